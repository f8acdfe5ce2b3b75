import type { Targets } from '../backups/targets/targets.ts';
import type { Core } from '../host/core.ts';
import type { Deployer } from '../deploy/deployer.ts';
import type { Lifecycle } from '../deploy/lifecycle.ts';
import type { AppRuns } from '../records/run.ts';
import type { Vault } from '../records/settings-table.ts';
import type { DeployKeys } from '../ssh/deploy-keys.ts';
import type { Certificates } from '../tls/certificates.ts';

/** Shared by the parts of this folder. */
export interface MoveParts extends Core {
  readonly vault: Vault;
  readonly certificates: Certificates;
  readonly deployKeys: DeployKeys;
  readonly deployer: Deployer;
  readonly lifecycle: Lifecycle;
  readonly runs: AppRuns;
  /** Where this server stores backups. */
  readonly targets: Pick<Targets, 'assertKnown'>;
  /** Milliseconds without a sign of life after which a move ends. */
  readonly patience: number;
}
