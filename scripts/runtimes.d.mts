export declare function hasRuntime(name: string): boolean;
export declare function findProgram(name: string): string | undefined;
