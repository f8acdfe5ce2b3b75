/** The build writes the version here: `define` in `vite-plugin.ts`. */
declare const __TWOFOLD_VERSION__: string;

/** In the place of `generator/version.ts`, which reads a file. */
export const packageVersion = (): string => __TWOFOLD_VERSION__;
