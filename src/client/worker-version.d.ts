/** The version of the package, which the build inserts. */
declare const __UNDERSTUDY_VERSION__: string;
