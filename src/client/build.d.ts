/** Made by the build: the texts of the shipped fixtures and scenarios, by paths such as `/fixtures/reference.yaml`. */
declare module "virtual:shipped-files" {
  const files: Readonly<Record<string, string>>;
  export default files;
}

/** Loads every chunk of the build for browsers. */
declare module "virtual:all-chunks" {}

/** The version of the package, which the build inserts. */
declare const __UNDERSTUDY_VERSION__: string;
