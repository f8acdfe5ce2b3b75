import { createHash } from 'node:crypto';
import { failure } from '@twofold/runtime/errors';

/** How a container of the app is started and stopped. Null means what the image says. */
export interface ProcessFields {
  readonly entrypoint?: readonly string[] | null;
  readonly user?: string | null;
  readonly working_dir?: string | null;
  /** Whether a small init process starts the app's process and reaps its zombies. */
  readonly init?: boolean;
  /** Seconds between SIGTERM and SIGKILL. */
  readonly stop_grace_period?: number | null;
}

/** A file that every container of the app gets before it starts, for its process to read. */
export interface AppFile {
  readonly path: string;
  /** Base64. */
  readonly content: string;
  readonly executable: boolean;
}

/** A file in a request body. */
export interface FileField {
  readonly path: string;
  readonly content: string;
  readonly encoding?: 'utf8' | 'base64';
  readonly executable?: boolean;
}

/** Bytes of all files of an app. */
export const MAX_FILES = 1024 * 1024;

export const PROCESS_FIELDS = [
  'entrypoint',
  'user',
  'working_dir',
  'init',
  'stop_grace_period',
] as const satisfies readonly (keyof ProcessFields)[];

/** Those of the members with these names that are there. */
export const given = <Value, Key extends keyof Value>(
  value: Value,
  keys: readonly Key[],
): { [Name in Key]?: Exclude<Value[Name], undefined> } =>
  Object.fromEntries(
    keys.filter((key) => value[key] !== undefined).map((key) => [key, value[key]]),
  ) as { [Name in Key]?: Exclude<Value[Name], undefined> };

/** @throws AppError 400 for a path that is used twice, and for too many bytes. */
export function toFiles(fields: readonly FileField[]): readonly AppFile[] {
  const files = fields.map(({ path, content, encoding = 'utf8', executable = false }) => ({
    path: assertPath(path),
    executable,
    content: Buffer.from(content, encoding).toString('base64'),
  }));
  if (new Set(files.map(({ path }) => path)).size < files.length)
    throw failure.badRequest('files must not name one path twice');
  const bytes = files.reduce((sum, { content }) => sum + Buffer.byteLength(content, 'base64'), 0);
  if (bytes > MAX_FILES)
    throw failure.badRequest(`files hold ${bytes} bytes, and at most ${MAX_FILES} are copied`);
  return files;
}

function assertPath(path: string): string {
  const parts = path.split('/');
  const isPlain = path.startsWith('/') && parts.slice(1).every((part) => !/^\.{0,2}$/.test(part));
  if (!isPlain || /\p{Cc}/u.test(path) || /^\/(proc|sys|dev)(\/|$)/.test(path))
    throw failure.badRequest(`files.path ${JSON.stringify(path.slice(0, 200))} is not allowed`);
  return path;
}

/** The contents are never read back: a file may be a configuration with a password in it. */
export const showFiles = (files: readonly AppFile[]) =>
  files.map(({ path, content, executable }) => {
    const bytes = Buffer.from(content, 'base64');
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    return { path, bytes: bytes.length, sha256, executable };
  });
