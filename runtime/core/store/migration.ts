import type { Kysely } from 'kysely';

/**
 * One step of the database's history. The name orders it and is kept in `twofold_migrations` with a hash of the text;
 * an applied one whose text changed is refused.
 */
export interface Migration {
  /** `0001_init`, or `auth/0001` for a module's own. */
  readonly name: string;
  /** What the hash is made of: the file's text. Absent for a module's own. */
  readonly text?: string;
  /** Columns whose values may lose a part when it runs, as its file says: `posts.rating`. */
  readonly allowLoss?: readonly string[];
  up(db: Kysely<any>): Promise<void>;
  down?(db: Kysely<any>): Promise<void>;
}
