/** `@twofold/console/server`: what the emitted `app.ts` imports. */
export type { ConsoleModel } from '@twofold/schema';
export { webConsole } from './capability.ts';
