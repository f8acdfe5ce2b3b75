import { CommandError, EXIT, type ExitCode } from '../failure.ts';
import type { Terminal } from './terminal.ts';

/**
 * Reports what ended a command, or a run of one that goes on. With `--json` that is the document.
 *
 * @returns the exit code.
 */
export function explainFailure(error: unknown, terminal: Terminal): ExitCode {
  if (terminal.json) terminal.document({ ok: false, error: failureAsData(error) });
  if (!terminal.json || isBug(error)) terminal.say(describeFailure(error, terminal));
  return exitCodeOfFailure(error);
}

/** The member `error` of the document. */
export function failureAsData(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof CommandError) {
    const { code, message, fix, details } = error;
    return { ...details, code, message, ...(fix !== undefined && { fix }) };
  }
  const text = systemFailure(error);
  return text === null
    ? { code: 'BUG', message: String(error) }
    : { code: 'SYSTEM', message: text };
}

/** An expected failure says what to do; any other error is a bug of the generator. */
export function describeFailure(error: unknown, { paint }: Pick<Terminal, 'paint'>): string {
  if (error instanceof CommandError) {
    const { code, message, fix } = error;
    return `${paint.red('error')}  ${code}  ${message}${fix === undefined ? '' : `\n   fix  ${fix}`}`;
  }
  const text = systemFailure(error);
  if (text !== null) return `${paint.red('error')}  ${text}`;
  return `This is a bug of ours. Please report it where you have the generator from, with the lines below.\n${error instanceof Error ? error.stack : String(error)}`;
}

export function exitCodeOfFailure(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  return isBug(error) ? EXIT.bug : EXIT.usage;
}

const isBug = (error: unknown): boolean =>
  !(error instanceof CommandError) && systemFailure(error) === null;

const SYSTEM: Readonly<Record<string, string>> = {
  EACCES: 'is not allowed',
  EPERM: 'is not allowed',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the disk is full',
  EFBIG: 'cannot be written: it is larger than the system allows',
  EISDIR: 'is a folder where a file belongs',
  ENOTDIR: 'is a file where a folder belongs',
  EEXIST: 'is there already',
};

/** The refusal of the operating system as a sentence; null when the error is not a system error. */
function systemFailure(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || !('syscall' in error)) return null;
  const nowhere =
    error.syscall === 'mkdir' && error.code === 'ENOENT'
      ? 'cannot be made: this place takes no new folders'
      : undefined;
  const what = nowhere ?? SYSTEM[String(error.code)] ?? `failed (${String(error.code)})`;
  return `${'path' in error ? String(error.path) : error.syscall === 'write' ? 'a file' : String(error.syscall)} ${what}`;
}
