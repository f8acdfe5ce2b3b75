import { resolve } from 'node:path';
import type { Kernel } from '@twofold/runtime/kernel';
import type { Core } from '../core.ts';
import { createBackupRepository } from '../records/backup-repository.ts';
import type { StoredBackup } from '../records/backup.ts';
import { sealingSecrets, type Seal } from '../records/seal.ts';
import { type Backups, createBackups } from './backups.ts';
import { backupKey } from './cipher.ts';
import { createTargets } from './targets/targets.ts';

/**
 * Creates the backups of a server.
 *
 * @throws ConfigError when `BACKUP_KEY` is not 32 bytes in base64.
 */
export function createBackupsOf(
  { store, settings, root, dumpDatabase }: Kernel,
  core: Core,
  seal: Seal,
): Backups {
  const folder = resolve(root, core.model.backups.directory);
  const parts = {
    ...{ core, seal, key: backupKey(settings), inUse: new Set<StoredBackup>(), dumpDatabase },
    secrets: sealingSecrets(settings, root),
    repository: createBackupRepository(store),
    targets: createTargets(store, seal, folder),
  };
  return createBackups(parts, store, root);
}
