import type { Project } from '@twofold/schema';
import { code, local, raw, runtime, type Code } from './code.ts';

/** A file that every run of `generate` writes. */
export interface GeneratedFile {
  readonly path: string;
  render(): string;
}

/**
 * What a project emits for a capability. Each capability has a folder of its name;
 * `capabilities.ts` lists them.
 */
export interface CapabilityTemplate {
  /** The same name as in `CapabilitySpec.name`. */
  readonly name: string;
  /**
   * The call that `app.ts` passes: `auth({ extend })`. `userFiles`: which of the user's optional
   * files exist.
   */
  call(userFiles: ReadonlySet<string>, project: Project): Code;
  /** Makes `src/generated/<name>.ts` from the capability's section of the manifest. */
  readonly settings?: SettingsFile;
  /** Types that `types.ts` declares for the user's files. */
  types?(project: Project): Code | null;
  /** The type of its member of the context: `ctx.auth`. */
  context?(project: Project): Code | null;
  /** Other files below `src/generated/`. */
  files?(project: Project): readonly GeneratedFile[];
  /** Lines of `.env`. */
  env?(project: Project): readonly EnvSetting[];
  /** Secrets without which the server does not start, or users cannot sign in. */
  readonly secrets?: readonly NeededSecret[];
  /** Lines of the app's `environment` in `compose.yaml`. */
  compose?(project: Project): Readonly<Record<string, string>>;
  /** The socket of the engine whose containers the server manages, for `compose.yaml`. */
  engineSocket?(project: Project): string;
  readme?(project: Project): ReadmeParts;
  /** npm scripts of `package.json`. */
  scripts?(project: Project): Readonly<Record<string, string>>;
  /** Its dependencies whose install scripts need not run, because their tarballs are complete. */
  readonly withoutInstallScript?: readonly string[];
  /** Commented-out lines for the manifest of the smallest starter that show how to enable it. */
  readonly hint?: string;
}

/** The constant that holds the settings of a capability. */
export interface SettingsFile {
  /** A sentence that describes the settings, for the emitted comment. */
  readonly about: string;
  /** The type of the constant, and the package that exports it. */
  readonly type: string;
  readonly from: string;
  readonly as: string;
  /** What the server reads elsewhere. */
  readonly without?: readonly string[];
}

/** One setting in `.env`. A `secret` is random in `.env` and empty in `.env.example`. */
export interface EnvSetting {
  readonly name: string;
  readonly why: string;
  readonly value: string;
  readonly secret?: boolean;
}

export interface NeededSecret {
  readonly name: string;
  /** Another setting that can be used instead. */
  readonly or?: string;
}

/** Rows and links for the emitted `README.md`. */
export interface ReadmeParts {
  /** A paragraph about the first steps. */
  readonly start?: string;
  /** Rows of the table of files. */
  readonly files?: readonly string[];
  /** Rows of the table of endpoints. */
  readonly endpoints?: readonly string[];
  /** Pages of documentation: title, and path below `node_modules/@twofold/`. */
  readonly pages?: readonly (readonly [title: string, path: string])[];
}

/** A starter project of `init`: the two inputs, and files that belong to the user. */
export interface Starter {
  readonly about: string;
  readonly schema: string;
  readonly manifest: (name: string) => string;
  /** Path → text. */
  readonly files: Readonly<Record<string, string>>;
  /** A query that returns data in a new project. */
  readonly query: string;
  /**
   * The role that the query needs, if it is not public: a registered user, or the operator of the
   * host.
   */
  readonly caller?: 'user' | 'host';
}

/**
 * A capability that serves the pages of the console. If its package is missing, the server starts,
 * and the pages say that it is missing.
 *
 * @example whenInstalled('@twofold/auth', "(await import('@twofold/auth')).auth()")
 */
export const whenInstalled = (name: string, call: string): Code =>
  code`await ${runtime('ifInstalled')}('${name}', async () => ${raw(call)}, ${local('./console.ts', 'consoleSettings')})`;
