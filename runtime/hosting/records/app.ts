import { failure } from '@twofold/runtime/errors';
import type { AppStatus, DeploymentStatus } from '@twofold/schema';
import type { AppCron } from './cron.ts';
import type { BuildSettings } from './build-settings.ts';
import type { BackupRules } from './backup-rules.ts';
import type { HttpRules } from './http-rules.ts';
import type { AppFile, ProcessFields } from './process-fields.ts';
import type { PreviewOf, PreviewRules } from './preview-rules.ts';
import type { AppPort } from './ports.ts';

/**
 * How to check whether an app serves. Without a path and a command, a TCP connection to its port is
 * opened. A deployment waits for one success. Afterwards an app with a path or a command is checked
 * every `interval_s` seconds, and restarted after `retries` failures in a row.
 */
export interface HealthCheck {
  readonly path?: string;
  readonly tcp?: boolean;
  readonly command?: readonly string[];
  readonly interval_s: number;
  readonly timeout_s: number;
  readonly retries: number;
}

export interface Resources {
  /** 0 means no limit. */
  readonly memory_mb: number;
  readonly cpus: number;
  readonly pids: number;
}

export interface AppVolume {
  readonly name: string;
  readonly path: string;
  /** Whether the volume belongs to the project, so that several of its apps may use it. */
  readonly shared?: boolean;
  /** Whether `name` is the volume's whole name on the engine. It is never created or removed. */
  readonly external?: boolean;
}

/** Where a deployment's image comes from. It never contains a token. */
export type AppSource =
  | { readonly kind: 'image'; readonly image: string }
  | {
      readonly kind: 'git';
      readonly url: string;
      readonly ref?: string;
      readonly path?: string;
      readonly commit?: string;
    }
  | { readonly kind: 'tarball'; readonly sha256?: string }
  | { readonly kind: 'template'; readonly template: string; readonly image: string };

export type GitSource = Extract<AppSource, { kind: 'git' }>;

/** Further containers of each deployment of an app, without a port: a worker of a queue, for example. */
export interface AppProcess {
  readonly name: string;
  readonly command: readonly string[];
  /** One if it is not set. */
  readonly replicas?: number;
  /** Those of the app, where they are not set. */
  readonly resources?: Partial<Resources>;
}

/** The configuration of an app by its user. */
export interface AppSpec extends ProcessFields {
  readonly domain: string;
  readonly aliases: readonly string[];
  readonly image: string | null;
  /** Null means the only port that the image exposes, or else the manifest's default. */
  readonly port: number | null;
  /** Whether the app has no port at all: it works through a queue, for example. */
  readonly worker?: boolean;
  /** The port of the last deployment; null for a worker. */
  readonly usedPort?: number | null;
  readonly volumes: readonly AppVolume[];
  readonly replicas: number;
  readonly resources: Resources;
  readonly health: HealthCheck;
  /**
   * The HEALTHCHECK in the Dockerfile of the last deployment. It is used when the user has
   * configured none.
   */
  readonly builtHealth?: HealthCheck | null;
  readonly command: readonly string[] | null;
  readonly http?: Partial<HttpRules>;
  readonly previews?: Partial<PreviewRules>;
  /** Set for an app that is a preview of another one. */
  readonly preview?: PreviewOf;
  readonly cron?: readonly AppCron[];
  /** Apps of one project share a private network, and are not reached by other apps. */
  readonly project?: string | null;
  /** Networks of the project, from its compose file. Empty means the project's own one. */
  readonly networks?: readonly string[];
  /** What the project's compose file last made of the app; absent when it made nothing. */
  readonly composed?: string;
  readonly build?: BuildSettings;
  readonly backup?: Partial<BackupRules>;
  /** Runs in the new image before a deployment starts it. */
  readonly release?: readonly string[] | null;
  readonly processes?: readonly AppProcess[];
  readonly ports?: readonly AppPort[];
  /** The ports of the last deployment. */
  readonly usedPorts?: readonly AppPort[];
  readonly source: AppSource | null;
  /** Set when the app has moved to another server. */
  readonly moved?: MovedApp;
  /** Set when the app comes, or has come, from another server. */
  readonly arrival?: ArrivedApp;
}

/** Where an app has moved to. Until `until` its requests are passed on. */
export interface MovedApp {
  readonly to: string;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly forward: ForwardTarget;
}

/** The ingress of another server, at the address that has proved that it has the app. */
export interface ForwardTarget {
  readonly host: string;
  readonly http: number | null;
  readonly https: number | null;
  /** The name in the other server's certificate; null when its API has no TLS. */
  readonly serverName: string | null;
  /** Proves to the other ingress that a request was passed on by this one. */
  readonly token: string;
}

/** The move that an app comes from. It can be taken back until `kept` is set. */
export interface ArrivedApp {
  readonly move: string;
  readonly kept: boolean;
  /** SHA-256 of the text with which the source asks to keep the app, and the answer to it. */
  readonly proof: string;
  readonly answer: string;
  /** SHA-256 of the token of requests that are passed on, and when it ends. */
  readonly forwarder: string;
  readonly until: number;
}

/** The health check in use: the configured one, else the Dockerfile's, else a TCP connection. */
export function healthCheckOf({
  health,
  builtHealth,
}: Pick<AppSpec, 'health' | 'builtHealth'>): HealthCheck {
  const says = health.path !== undefined || health.tcp === true || health.command !== undefined;
  return says ? health : (builtHealth ?? health);
}

/** What the containers of an app were created from. A change that is not deployed is not in it. */
export interface DeployedConfig extends Pick<HostedApp, 'env' | 'secrets' | 'files'> {
  /** The fields that act by a deployment. */
  readonly spec: Partial<AppSpec>;
}

/** An app as it is stored. */
export interface HostedApp {
  readonly id: string;
  readonly name: string;
  readonly status: AppStatus;
  readonly desired: 'running' | 'stopped';
  /** Number of the deployment that serves; null before the first one. */
  readonly deployment: number | null;
  readonly restarts: number;
  readonly error: string | null;
  readonly spec: AppSpec;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly files?: readonly AppFile[];
  /** The configuration of the deployment that serves. */
  readonly deployed?: DeployedConfig;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The number of the deployment that serves. @throws AppError 400 before the first one. */
export function deploymentNumber({ deployment }: Pick<HostedApp, 'deployment'>): number {
  if (deployment !== null) return deployment;
  throw failure.badRequest('App has not been deployed yet');
}

export type Trigger = 'create' | 'api' | 'webhook' | 'rollback' | 'template' | 'change' | 'move';

export interface ProbeRecord {
  readonly at: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** One deployment of an app, successful or not. */
export interface Deployment {
  readonly app_id: string;
  readonly number: number;
  readonly status: DeploymentStatus;
  readonly trigger: Trigger;
  readonly source: AppSource;
  readonly image: string | null;
  readonly image_id: string | null;
  /** Null before the image is known, and for a worker. */
  readonly port: number | null;
  /** Number of containers. */
  readonly replicas: number;
  readonly processes: readonly AppProcess[];
  readonly reason: string | null;
  readonly probes: readonly ProbeRecord[];
  readonly log: readonly string[];
  readonly build_log: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}
