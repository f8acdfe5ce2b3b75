import type { Booted } from '@twofold/runtime/kernel';
import type { Guard, Migration } from '@twofold/runtime/store';
import type { MigrationSettings, Project } from '@twofold/schema';

/** The project's migrations, then those of each module. */
export type MigrationLists = readonly [
  own: readonly Migration[],
  ...modules: (readonly Migration[])[],
];

/** A database with the migrations of its project and of the modules. */
export interface Migrated extends Booted {
  readonly lists: MigrationLists;
  readonly guard: Guard;
}

export const DEFAULT_MIGRATION_SETTINGS: MigrationSettings = {
  lockTimeout: 5_000,
  onlineFrom: 10_000,
};

/** How the migrations of a project run on PostgreSQL. */
export function migrationSettings({ migrations }: Pick<Project, 'migrations'>): MigrationSettings {
  return migrations ?? DEFAULT_MIGRATION_SETTINGS;
}
