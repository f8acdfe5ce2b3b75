import { code, type Code, local, raw, runtime } from './code.ts';

/**
 * A capability that serves the pages of the console, whose package may be missing: then they say
 * so, and the server starts.
 *
 * @example whenInstalled('@twofold/auth', "(await import('@twofold/auth')).auth()")
 */
export const whenInstalled = (name: string, call: string): Code =>
  code`await ${runtime('ifInstalled')}('${name}', async () => ${raw(call)}, ${local('./console.ts', 'consoleSettings')})`;
