import { createHmac } from 'node:crypto';
import { availableParallelism } from 'node:os';
import bcrypt from 'bcrypt';
import { randomToken } from './ids.ts';
import { createSemaphore } from '@twofold/runtime/kernel';

/** Hashes passwords with bcrypt, a bounded number at a time. */
export interface Passwords {
  hash(password: string): Promise<string>;
  /**
   * Whether `password` belongs to `stored`. With no stored hash the same work is done on a dummy,
   * so that an unknown user, one without a password and one with another password take the same
   * time.
   */
  verify(password: string, stored: string | null): Promise<boolean>;
  /** Whether a stored hash was made with other parameters than those in force. */
  outdated(stored: string): boolean;
}

export interface PasswordOptions {
  readonly cost: number;
  readonly concurrency: number | 'auto';
  readonly queue: number;
}

/** bcrypt reads 72 bytes and ignores the rest without a word. */
const BCRYPT_BYTES = 72;
const LONG = '$bcrypt-sha384$';
const FORMAT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/;

/**
 * @example
 * const passwords = createPasswords({ cost: 10, concurrency: 'auto', queue: 64 });
 * await passwords.verify('correct horse', await passwords.hash('correct horse')); // true
 */
export function createPasswords(options: PasswordOptions): Passwords {
  const semaphore = createSemaphore(hashConcurrency(options.concurrency), options.queue);
  let dummy: Promise<string> | null = null;
  const decoy = () => (dummy ??= bcrypt.hash(randomToken(16), options.cost));
  const compareDecoy = async (password: string) =>
    void (await bcrypt.compare(prepare(password), await decoy()));
  return {
    hash: (password) => semaphore.run(() => hashPassword(password, options.cost)),
    verify: (password, stored) =>
      semaphore.run(async () => {
        if (!stored || !isHash(stored)) return compareDecoy(password).then(() => false);
        const right = await comparePassword(password, stored);
        // A cheaper hash would answer sooner and tell that the user exists.
        if (!right && costOf(stored) < options.cost) await compareDecoy(password);
        return right;
      }),
    outdated: (stored) =>
      costOf(stored) !== options.cost || (!stored.startsWith(LONG) && !stored.startsWith('$2b$')),
  };
}

/**
 * How many hashes run at once: never so many that the thread pool has none left for files and DNS.
 */
export function hashConcurrency(
  option: number | 'auto',
  pool = Number(process.env['UV_THREADPOOL_SIZE'] ?? 4),
): number {
  return option === 'auto' ? Math.max(1, Math.min(availableParallelism(), pool - 2)) : option;
}

async function hashPassword(password: string, cost: number): Promise<string> {
  const hash = await bcrypt.hash(prepare(password), cost);
  return isLong(password) ? LONG + hash : hash;
}

async function comparePassword(password: string, stored: string): Promise<boolean> {
  const long = stored.startsWith(LONG);
  if (long !== isLong(password))
    return bcrypt.compare(prepare(password), plain(stored)).then(() => false);
  return bcrypt.compare(prepare(password), plain(stored));
}

/**
 * Longer passwords are reduced first, so that every byte counts; the short ones stay portable
 * bcrypt.
 */
function prepare(password: string): string {
  return isLong(password)
    ? createHmac('sha384', 'generator/password/v1').update(password).digest('base64')
    : password;
}

function isLong(password: string): boolean {
  return Buffer.byteLength(password) > BCRYPT_BYTES || password.includes('\0');
}

/** PHP writes `$2y$` for `$2b$`, and the library answers false for it. */
function plain(stored: string): string {
  const hash = stored.startsWith(LONG) ? stored.slice(LONG.length) : stored;
  return hash.startsWith('$2y$') ? `$2b$${hash.slice(4)}` : hash;
}

function isHash(stored: string): boolean {
  return FORMAT.test(plain(stored));
}

function costOf(stored: string): number {
  return Number(FORMAT.exec(plain(stored))?.[1] ?? 0);
}
