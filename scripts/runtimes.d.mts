export declare function hasRuntime(name: string): boolean;
