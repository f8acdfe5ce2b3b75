import type { Targets } from '../backups/targets/targets.ts';
import type { Vault } from '../records/settings-table.ts';
import type { Core } from '../core.ts';
import type { Deployer } from '../deploy/deployer.ts';
import type { Lifecycle } from '../deploy/lifecycle.ts';
import type { Listening } from '../ingress/listeners.ts';
import type { Certificates } from '../tls/certificates.ts';

/** Shared by the parts of this folder. */
export interface MoveParts {
  readonly core: Core;
  readonly vault: Vault;
  readonly certificates: Certificates;
  readonly deployer: Deployer;
  readonly lifecycle: Lifecycle;
  /** Where this server stores backups. */
  readonly targets: Pick<Targets, 'assertKnown'>;
  /** The ports of the ingress, which a source passes requests on to. */
  readonly ports: () => Listening;
  /** Milliseconds without a sign of life after which a move ends. */
  readonly patience: number;
}
