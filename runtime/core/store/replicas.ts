import { createHash } from 'node:crypto';
import type { Asker } from './bounds.ts';

/** Read replicas of a database. Absent where there are none. */
export interface Replicas {
  readonly size: number;
  /** Warns of replicas that do not answer. @throws AppError `DATABASE_URL_MISMATCH` */
  start(): Promise<void>;
  /** Lets what runs for `asker` read from a replica that has come as far as `after`. */
  allow(asker: Asker, after: ReadAfter): void;
  /** How far the database has come, for those who have written. */
  position(): Promise<Position>;
}

/** A place in the log of PostgreSQL. */
export type Position = bigint;

/** What an answer must not be older than; `primary` when that is not known. */
export type ReadAfter = Position | 'primary' | undefined;

/** Reads `16/B374D848` as PostgreSQL writes it. */
export function parsePosition(text: string): Position {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

const CHECKED = 8;

const checkOf = (hex: string) =>
  createHash('sha256').update(`twofold read after ${hex}`).digest('base64url').slice(0, CHECKED);

/** A position as clients keep it. The check tells it from what somebody has made up. */
export function sealPosition(position: Position): string {
  const hex = position.toString(16);
  return Buffer.from(hex).toString('base64url') + checkOf(hex);
}

/** @returns `primary` for what no server has given. */
export function openPosition(text: string): Position | 'primary' {
  const hex = Buffer.from(text.slice(0, -CHECKED), 'base64url').toString();
  const isOurs = /^[0-9a-f]{1,16}$/.test(hex) && text.slice(-CHECKED) === checkOf(hex);
  return isOurs ? BigInt(`0x${hex}`) : 'primary';
}
