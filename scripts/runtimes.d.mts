export declare function hasRuntime(name: string): boolean;
export declare function programOf(name: string): string | undefined;
