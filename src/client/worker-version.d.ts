/** The build's: the version of the package. */
declare const __UNDERSTUDY_VERSION__: string;
