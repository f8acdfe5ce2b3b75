import { type IdKind, type MigrationStep, misfitIn } from '@twofold/schema';
import { lineAt } from '../upgrade/text-edits.ts';
import { readLiteral } from './read-literal.ts';

/** The content of a migration's file, read without running it. */
export interface MigrationText {
  readonly steps: readonly MigrationStep[];
  /** Where each step begins in the text. */
  readonly places: readonly number[];
  readonly ids: IdKind;
  readonly allowLoss: readonly string[];
  /** `export const leaves`: the steps that would make what code makes. */
  readonly leaves: readonly MigrationStep[] | null;
  /** Whether it has code, or steps that are not data. */
  readonly byHand: boolean;
  /** Code that may change tables. */
  readonly unread: readonly UnreadCode[];
  /** What is not as a migration has it. Its list counts as empty. */
  readonly misfits: readonly LineOf[];
}

/** What is said of a line. */
export interface LineOf {
  readonly line: number;
  readonly what: string;
}

/** An empty text stands for code that may be about any table. */
export interface UnreadCode {
  readonly line: number;
  readonly text: string;
}

/**
 * The most characters of texts that are kept with what was read of them. A run reads each migration
 * several times, and `dev` runs again and again.
 */
const MOST_KEPT = 8_000_000;

const kept = new Map<string, MigrationText>();
let keptCharacters = 0;

/** Reads a migration without running it. What is returned may be shared: nobody changes it. */
export function readMigration(text: string): MigrationText {
  const known = kept.get(text);
  if (known) kept.delete(text);
  else keptCharacters += text.length;
  const read = known ?? parseMigration(text);
  // What was asked for last stands last, and what was not asked for longest leaves first.
  kept.set(text, read);
  for (const oldest of kept.keys()) {
    if (keptCharacters <= MOST_KEPT || oldest === text) break;
    kept.delete(oldest);
    keptCharacters -= oldest.length;
  }
  return read;
}

function parseMigration(text: string): MigrationText {
  const constant = <T>(name: string) => {
    const declared = new RegExp(`^export const ${name}\\b[^=]*=\\s*`, 'm').exec(text);
    const at = declared && declared.index + declared[0].length;
    return { at, read: at === null ? null : readLiteral<T>(text, at) };
  };
  const misfits: LineOf[] = [];
  const list = (name: string) => {
    const { at, read } = constant<readonly MigrationStep[]>(name);
    const misfit = read && misfitIn(read.value, name);
    if (misfit) {
      const place = misfit.step === null ? at! : read.places[misfit.step]!;
      misfits.push({ line: lineAt(text, place), what: misfit.what });
    }
    return { at, read: misfit ? { value: [], places: [] } : read };
  };
  const steps = list('steps');
  const leaves = list('leaves');
  const isUnread = steps.at !== null && !steps.read;
  const code = codeOf(text);
  return {
    steps: steps.read?.value ?? [],
    places: steps.read?.places ?? [],
    ids: constant<IdKind>('ids').read?.value ?? 'integer',
    allowLoss: constant<readonly string[]>('allowLoss').read?.value ?? [],
    leaves: leaves.read?.value ?? null,
    byHand: isUnread || misfits.length > 0 || code !== null,
    unread: [
      ...(isUnread ? [{ line: lineAt(text, steps.at!), text: '' }] : []),
      ...(code ? unreadIn(text, code) : []),
    ],
    misfits,
  };
}

interface Code {
  readonly from: number;
  readonly body: string;
}

/** `up` without its comments, and where it stands; null when there is none, or it does nothing. */
function codeOf(text: string): Code | null {
  const from = text.search(/\b(?:function|const|let)\s+up\b/);
  if (from < 0) return null;
  const rest = text.slice(from);
  const down = rest.search(/^export\b.*\bdown\b/m);
  const body = (down < 0 ? rest : rest.slice(0, down)).replace(COMMENTS, withoutComment);
  return /\{\s*\}\s*$/.test(body) ? null : { from, body };
}

const COMMENTS = /'(?:[^'\\\n]|\\[^])*'|"(?:[^"\\\n]|\\[^])*"|\/\/[^\n]*|\/\*[^]*?\*\//g;

/** SQL or a call of Kysely that creates, changes or drops a table or its columns. */
const CHANGE =
  /\b(create|alter|drop)\s+(temporary\s+)?table\b|\b(createTable|dropTable|alterTable|addColumn|dropColumn|renameTo|renameColumn)\b/i;

/** The same with a name that is only known when it runs. */
const NAMELESS = /\b(?:createTable|dropTable|alterTable)\((?!\s*(?:\w+,\s*)?['"`])/;

/** The statements of `up` that may change tables. */
function unreadIn(text: string, { from, body }: Code): UnreadCode[] {
  const found: UnreadCode[] = [];
  let at = 0;
  for (const statement of body.split(/(?<=;)/)) {
    const change = CHANGE.exec(statement);
    if (change)
      found.push({
        line: lineAt(text, from + at + change.index),
        text: NAMELESS.test(statement) ? '' : statement,
      });
    at += statement.length;
  }
  return found;
}

/** As many characters, so that places stay as they are. */
const withoutComment = (piece: string): string =>
  piece.startsWith('/') ? piece.replace(/[^\n]/g, ' ') : piece;
