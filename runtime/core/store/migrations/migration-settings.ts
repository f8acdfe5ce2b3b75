import type { MigrationSettings, Project } from '@twofold/schema';

export const DEFAULT_MIGRATION_SETTINGS: MigrationSettings = {
  lockTimeout: 5_000,
  onlineFrom: 10_000,
};

/** How the migrations of a project run on PostgreSQL. */
export function migrationSettings({ migrations }: Pick<Project, 'migrations'>): MigrationSettings {
  return migrations ?? DEFAULT_MIGRATION_SETTINGS;
}
