/** Writes the declarations that the package ships; resolves to the compiler's exit code. */
export declare function writeDeclarations(folder: string): number;
