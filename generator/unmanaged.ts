import { parseManifest, type SourceText } from '@twofold/schema';
import { CommandError, EXIT } from './failure.ts';
import { readSources } from './read.ts';

/** Whether the manifest says that another program owns the tables. */
const isUnmanaged = (manifest: SourceText | null): boolean =>
  !parseManifest(manifest).manifest.values.database.managed;

/**
 * Refuses a command that would change the structure of a database that another program owns.
 *
 * @throws CommandError `DATABASE_UNMANAGED`
 */
export async function assertManaged(root: string, command: string): Promise<void> {
  const { manifest } = await readSources(root);
  if (isUnmanaged(manifest))
    throw new CommandError(
      EXIT.usage,
      'DATABASE_UNMANAGED',
      `${command} would change the structure of a database that others made: ` +
        'manifest.yaml says database: { managed: false }',
      'change the table where it is kept, and the schema after it; "npx generator check --database" compares them',
    );
}
