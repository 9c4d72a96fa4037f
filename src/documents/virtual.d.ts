/** Made by the build: the texts of the shipped fixtures and scenarios, by paths such as `/fixtures/reference.yaml`. */
declare module "virtual:shipped-files" {
  const files: Readonly<Record<string, string>>;
  export default files;
}

/** Loads every chunk of the build for browsers. */
declare module "virtual:all-chunks" {}
