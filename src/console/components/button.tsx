import { Button } from "react-aria-components";

/** A mutation without input. */
export interface Mutation<T> {
  isPending: boolean;
  error: unknown;
  mutate: (input: undefined, options?: { onSuccess?: (result: T) => void }) => void;
}

/** A button that calls a function or runs a change. */
export function ActionButton(props: {
  label: string;
  onPress?: () => void;
  change?: Mutation<unknown>;
  look?: "primary" | "danger" | "subtle" | "square" | "";
  /** Accessible name, if other buttons have the same label. */
  name?: string | undefined;
  isPending?: boolean;
  isDisabled?: boolean;
}) {
  const { label, change, look = "", name, isDisabled, isPending = change?.isPending ?? false } = props;
  const { onPress = () => change?.mutate(undefined) } = props;
  return (
    <Button
      className={`button ${look}`}
      aria-label={name}
      isPending={isPending}
      isDisabled={isDisabled}
      onPress={onPress}
    >
      {label}
    </Button>
  );
}
