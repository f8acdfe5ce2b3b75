import type { Project } from '@twofold/schema';
import type { Code } from './code.ts';

/** A file that `generate` owns. */
export interface GeneratedFile {
  readonly path: string;
  render(): string;
}

/**
 * What a project emits for a capability. Each stands in a folder of its name; `capabilities.ts`
 * lists them.
 */
export interface CapabilityTemplate {
  /** As `CapabilitySpec.name`. */
  readonly name: string;
  /**
   * What `app.ts` passes: `auth({ extend })`. `userFiles` says which of the user's optional files
   * are there.
   */
  call(userFiles: ReadonlySet<string>): Code;
  /** How its section of the manifest is emitted, as `src/generated/<name>.ts`. */
  readonly settings?: SettingsFile;
  /** What `types.ts` declares for the user's files. */
  types?(project: Project): Code | null;
  /** Its other files below `src/generated/`. */
  files?(project: Project): readonly GeneratedFile[];
  /** Lines of `.env`. */
  env?(project: Project): readonly EnvSetting[];
  /** Secrets without which its server does not start, or cannot be entered. */
  readonly secrets?: readonly NeededSecret[];
  /** Lines of the app's `environment` in `compose.yaml`. */
  compose?(project: Project): Readonly<Record<string, string>>;
  readme?(project: Project): ReadmeParts;
  /** npm scripts of `package.json`. */
  scripts?(project: Project): Readonly<Record<string, string>>;
  /**
   * Packages that it brings whose install scripts need not run: they have what they need in their
   * tarballs.
   */
  readonly withoutInstallScript?: readonly string[];
  /**
   * How to switch it on, for the manifest of the smallest template; lines that are commented out.
   */
  readonly hint?: string;
}

/** The constant that holds the settings of a capability. */
export interface SettingsFile {
  /** A sentence about what is set. */
  readonly about: string;
  /** Its type, and the package that has it. */
  readonly type: string;
  readonly from: string;
  readonly as: string;
}

/** One line of `.env`. `secret` ones are random in `.env` and empty in `.env.example`. */
export interface EnvSetting {
  readonly name: string;
  readonly why: string;
  readonly value: string;
  readonly secret?: boolean;
}

export interface NeededSecret {
  readonly name: string;
  /** Another setting that takes its place. */
  readonly or?: string;
}

/** Rows and links for the emitted `README.md`. */
export interface ReadmeParts {
  /** Rows of the table of files. */
  readonly files?: readonly string[];
  /** Rows of the table of endpoints. */
  readonly endpoints?: readonly string[];
  /** Title and path below `node_modules/@twofold/` of pages to read. */
  readonly pages?: readonly (readonly [title: string, path: string])[];
}

/** What `init` starts a project with: the two inputs, and files that would be the user's. */
export interface Starter {
  readonly about: string;
  readonly schema: string;
  readonly manifest: (name: string) => string;
  /** Path → text. */
  readonly files: Readonly<Record<string, string>>;
  /** A query that answers in a new project. */
  readonly query: string;
  /**
   * The caller that the query needs, where it is not public: a user who registered, or the operator
   * of the host.
   */
  readonly caller?: 'user' | 'host';
}
