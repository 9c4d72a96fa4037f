/** Writes the declarations that the package ships; returns the compiler's exit code. */
export declare function writeDeclarations(folder: string): number;
