import { code, type Code, local, raw, runtime } from './code.ts';

/**
 * A capability that serves the pages of the console. If its package is missing, the server starts,
 * and the pages say that it is missing.
 *
 * @example whenInstalled('@twofold/auth', "(await import('@twofold/auth')).auth()")
 */
export const whenInstalled = (name: string, call: string): Code =>
  code`await ${runtime('ifInstalled')}('${name}', async () => ${raw(call)}, ${local('./console.ts', 'consoleSettings')})`;
