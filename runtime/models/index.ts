/** `@twofold/models`: everything that a project may import. */
export { models } from './capability.ts';
