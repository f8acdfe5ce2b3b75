import type { App } from './app.ts';
import { boot, type BootOptions } from './boot.ts';
import { ConfigError } from './errors.ts';

/** What is wrong with the settings of a project, each by name and without its value. */
export interface SettingsReport {
  /** The server does not start with these. */
  readonly problems: readonly string[];
  /** It starts with these, and in production it would not. */
  readonly inProduction: readonly string[];
}

/**
 * Reads every setting of a project and of its modules, and starts nothing. What `generator doctor` asks.
 *
 * @example
 * (await settingsOfApp(app)).problems; // ['GOOGLE_CLIENT_SECRET is missing: GOOGLE is half configured']
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
