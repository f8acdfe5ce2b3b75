/** The information about a source that a generator may use. */
export interface ProjectFiles {
  has(path: string): boolean;
  /** The text of a small file; undefined when the file does not exist or is too large. */
  text(path: string): string | undefined;
  find(pattern: RegExp): string | undefined;
}

/** The parts of a `package.json` that a generator reads. */
export interface PackageJson {
  readonly scripts?: Readonly<Record<string, string>>;
  readonly main?: string;
  readonly engines?: { readonly node?: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** How the user wants a source without a Dockerfile to be built. */
export interface GeneratorSettings {
  /** The folder that the build of a front end writes. */
  readonly output: string | null;
  /** Names of arguments of the build. */
  readonly args: readonly string[];
  /** Names of secrets that the build can read. */
  readonly secrets: readonly string[];
}

/** A Dockerfile that we generated, and the kind of project. */
export interface GeneratedDockerfile {
  readonly kind: string;
  readonly text: string;
  /** Our own files that it copies, by name. */
  readonly files?: Readonly<Record<string, string>>;
}

export type Generator = (
  files: ProjectFiles,
  settings: GeneratorSettings,
) => GeneratedDockerfile | null;

/** A `web:` line in a Procfile is the start command for every language. */
export const procfile = (files: ProjectFiles) =>
  /^web:\s*(.+?)\s*$/m.exec(files.text('Procfile') ?? '')?.[1];

/** A CMD that runs a command line. */
export const shell = (command: string) =>
  `CMD ["sh", "-c", ${JSON.stringify(command.startsWith('exec ') || /[;&|]/.test(command) ? command : `exec ${command}`)}]`;

/** Joins the lines that there are. */
export const lines = (...parts: (string | false | undefined)[]) =>
  `${parts.filter((part) => part !== false && part !== undefined).join('\n')}\n`;

export function parseJson<T>(text: string | undefined): T | null {
  try {
    const value: unknown = text === undefined ? null : JSON.parse(text);
    return typeof value === 'object' ? (value as T | null) : null;
  } catch {
    return null;
  }
}
