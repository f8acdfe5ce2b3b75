import type { HostingStore } from './records/tables.ts';
import type { AuditLog, ServerInfo } from '@twofold/runtime/kernel';
import type { Backups } from './backups/backups.ts';
import type { Core } from './core.ts';
import type { BuildLogs } from './deploy/build-logs.ts';
import type { Deployer } from './deploy/deployer.ts';
import type { Lifecycle } from './deploy/lifecycle.ts';
import type { SourceDeploys } from './deploy/source-deploys.ts';
import type { Listening } from './ingress/listeners.ts';
import type { Moves } from './moves/moves.ts';
import type { Notifications } from './notifications/notifications.ts';
import type { Previews } from './previews/previews.ts';
import type { GitSource } from './records/app.ts';
import type { Vault } from './records/settings-table.ts';
import type { AddressOf, ViewContext } from './records/view.ts';
import type { Runs } from './runs/create-runs.ts';
import type { StatsReader } from './stats.ts';
import type { Template } from './templates/template.ts';
import type { Terminals } from './terminals/terminals.ts';
import type { Certificates } from './tls/certificates.ts';

/** The objects of the process that operates the apps. A flow takes those that it uses. */
export interface Leader extends Core {
  readonly store: HostingStore;
  readonly audit: AuditLog | undefined;
  readonly vault: Vault;
  readonly certificates: Certificates;
  /** The host of `APP_URL`, if the ingress serves it. */
  readonly ownHost: string | null;
  /** The folder of the access log; null when the manifest has none. */
  readonly accessLog: string | null;
  readonly ports: () => Listening;
  readonly addressOf: AddressOf;
  /** What the view of an app needs of the server. */
  readonly shown: ViewContext;
  readonly deployer: Deployer;
  readonly lifecycle: Lifecycle;
  readonly sources: SourceDeploys;
  readonly buildLogs: BuildLogs;
  readonly templates: ReadonlyMap<string, Template>;
  readonly runs: Runs;
  readonly previews: Previews;
  readonly backups: Backups;
  readonly moves: Moves;
  readonly notifications: Notifications;
  readonly terminals: Terminals;
  readonly stats: StatsReader;
  readonly serverInfo: () => Promise<ServerInfo>;
  /** Pushes that wait for a running deployment, by the id of the app. */
  readonly pushes: Map<string, GitSource>;
  /** The projects whose compose files are being applied. */
  readonly composing: Set<string>;
}
