/** The version of this package; `npm run release -- --version` writes it. */
export const VERSION = '0.1.0';
