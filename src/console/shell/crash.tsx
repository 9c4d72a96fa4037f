import { Component, type ReactNode } from "react";
import { Notice } from "../parts/notice.tsx";

/** A view that fails leaves the others usable, and says what failed. */
export class Crash extends Component<{ children: ReactNode }, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Notice
        outcome="failed"
        action={
          <button type="button" className="button" onClick={() => location.reload()}>
            Load it again
          </button>
        }
      >
        This view failed: {error.message}. A newer server may have other files; loading the page again fetches
        them.
      </Notice>
    );
  }
}
