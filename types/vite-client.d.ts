declare module "virtual:understudy" {
  /** The API's base URL: the page's own origin. Undefined in a build, and where no dev server runs. */
  export const url: string | undefined;
  /** A usable API key of each user of the world, by user id; empty in a build. */
  export const credentials: import("understudy-sandbox").Credentials;
}
