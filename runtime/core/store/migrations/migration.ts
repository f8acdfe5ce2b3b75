import type { Kysely } from 'kysely';
import type { Dialect } from '../store.ts';

/** The second argument of a migration. */
export interface MigrationContext {
  readonly dialect: Dialect;
}

/**
 * One step of the database's history. Migrations are sorted by name. `twofold_migrations` records
 * the name with a hash of the text, and an applied migration whose text has changed is refused.
 */
export interface Migration {
  /** `0001_init`, or `auth/0001` for a module's own. */
  readonly name: string;
  /** The text of the file, which is hashed. Absent for a module's own. */
  readonly text?: string;
  /** Columns whose values may lose a part, as the file states: `posts.rating`. */
  readonly allowLoss?: readonly string[];
  /** Names of the migrations that this one replaces: `migrate squash` writes them. */
  readonly replaces?: readonly string[];
  /** What it makes is for a part that the project does not use: it is known, but not pending. */
  readonly unused?: boolean;
  up(db: Kysely<any>, context: MigrationContext): Promise<void>;
  down?(db: Kysely<any>, context: MigrationContext): Promise<void>;
}
