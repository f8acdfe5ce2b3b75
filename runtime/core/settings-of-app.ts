import type { App } from './app.ts';
import { boot, type BootOptions } from './boot.ts';
import { ConfigError } from './errors.ts';

/** Problems of a project's settings, each with the setting's name and without its value. */
export interface SettingsReport {
  /** Problems that keep the server from starting. */
  readonly problems: readonly string[];
  /** Problems that would keep it from starting in production only. */
  readonly inProduction: readonly string[];
}

/**
 * Reads every setting of a project and of its modules without starting the server, for `generator
 * doctor`.
 *
 * @example
 * (await settingsOfApp(app)).problems; // ['GOOGLE_CLIENT_SECRET is missing: google is half configured']
 */
export async function settingsOfApp(app: App, options: BootOptions = {}): Promise<SettingsReport> {
  const env = options.env ?? process.env;
  const problems = await problemsOf(app, { ...options, env });
  const strict = await problemsOf(app, { ...options, env: { ...env, NODE_ENV: 'production' } });
  return { problems, inProduction: strict.filter((problem) => !problems.includes(problem)) };
}

async function problemsOf(app: App, options: BootOptions): Promise<readonly string[]> {
  try {
    await (await boot(app, options)).kernel.store.close();
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
