import { AppError } from '../errors.ts';

/** The client that a statement runs for: the statement is ended when it is gone. */
export interface Asker {
  readonly cancelled: boolean;
}

/** Limits of the answers of a server. Sizes are bytes, `time` is milliseconds. */
export interface AnswerLimits {
  readonly time: number;
  readonly result: number;
  readonly memory: number;
}

/** The client that waits for a statement, and the limits of its answer. */
export interface Bounds {
  readonly asker: Asker;
  readonly limits: AnswerLimits;
  /** Whether the server sends the answer: its memory is then held until `AnswerMemory.end`. */
  readonly sent: boolean;
  /** Whether a large value may be returned as `LargeText`. */
  readonly large?: boolean | undefined;
}

/**
 * The bounds of a statement that writes: a value may be stored that is larger than any answer.
 */
export const forWriting = (bounds: Bounds): Bounds => ({
  ...bounds,
  limits: { ...bounds.limits, result: Infinity },
});

/** The client that waits for a transaction. */
export interface TransactionBounds extends Bounds {
  /** Whether one of its statements may take long, see `ReadStatement`. */
  readonly long?: boolean;
}

/** What is known about a transaction of SQL texts before it runs. */
export interface TransactionWork {
  /** Whether it has only one statement. A single statement undoes itself when it fails. */
  readonly single?: boolean;
}

/** A statement that only reads. */
export interface ReadStatement {
  readonly text: string;
  /** Whether it may read more rows than a page has. It then runs apart from other requests. */
  readonly long?: boolean;
}

/**
 * The function that SQLite calls in the loops of long statements. When it throws, the statement
 * ends within a row.
 */
export const STEP_FUNCTION = 'twofold_step';

/** An answer exceeded one of its limits and is refused as a whole. */
export class LimitReached extends AppError {}

/** The answer would have more bytes than `api.limits.result`. */
export function resultTooLarge({ result }: AnswerLimits, bytes = result + 1): AppError {
  return new LimitReached(400, 'RESULT_TOO_LARGE', `the result has more than ${result} bytes`, {
    extensions: { value: bytes, limit: result },
  });
}

/**
 * Characters that functions of JavaScript may get of the texts of one statement on SQLite. Node
 * keeps what they get, and what they return, until the statement ends: one or two bytes for each.
 */
export const MAX_TEXT = 100_000_000;

/**
 * Notes that a function gets a text of so many characters. It throws when that ends the statement:
 * when its texts are too many, or, before a large one, when its time is up.
 */
export type ReadText = (characters: number) => void;

/** The functions of a statement got more than `MAX_TEXT` characters. */
export const tooMuchText = (): AppError =>
  new LimitReached(
    400,
    'TOO_COSTLY',
    `a filter would look through more than ${MAX_TEXT} characters: narrow it with another field, or look for words with search`,
    { extensions: { limit: MAX_TEXT } },
  );

/** The statement ran into `api.limits.time`. */
export function outOfTime({ time }: AnswerLimits): AppError {
  return new LimitReached(400, 'TIMEOUT', `the operation took longer than ${time} ms`, {
    extensions: { value: time, limit: time },
  });
}

/** The error of a statement that was ended because its client is gone, which is never sent. */
export function unwanted(): Error {
  return Object.assign(new Error('the statement was ended: its caller waits no longer'), {
    severity: 'ERROR',
  });
}
