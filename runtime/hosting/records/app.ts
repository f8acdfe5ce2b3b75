/**
 * What an app may be in. `running`: a replica is up and answers its probe. `restarting`: none does since a container
 * ended by itself, until one does again. `building` and `deploying` are those of an app with nothing that serves yet, or of one being replaced.
 */
export type AppStatus =
  | 'created'
  | 'building'
  | 'deploying'
  | 'running'
  | 'restarting'
  | 'stopped'
  | 'failed'
  | 'crashed';

export const APP_STATUSES: readonly AppStatus[] = [
  'created',
  'building',
  'deploying',
  'running',
  'restarting',
  'stopped',
  'failed',
  'crashed',
];

/**
 * How we ask whether an app serves. Without path and command its port is dialled. A deployment waits for one good answer;
 * afterwards an app with a path or a command is asked every `interval_s`, and started again after `retries` bad ones.
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
  /** 0 is no limit. */
  readonly memory_mb: number;
  readonly cpus: number;
  readonly pids: number;
}

/** How the ingress treats an app's requests. What is absent is as `HTTP_RULES` says. */
export interface HttpRules {
  /** Responses and WebSockets that may be open at once. */
  readonly max_connections: number;
}

export const HTTP_RULES: HttpRules = { max_connections: 10_000 };

export interface AppVolume {
  readonly name: string;
  readonly path: string;
}

/** Where a deployment's image comes from. Never holds a token. */
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

/** What the user wants of an app: everything but what happened to it. */
export interface AppSpec {
  readonly domain: string;
  readonly aliases: readonly string[];
  readonly image: string | null;
  /** Null: the image's only EXPOSE, else the default. */
  readonly port: number | null;
  /** The port that the last deployment found. */
  readonly usedPort?: number;
  readonly volumes: readonly AppVolume[];
  readonly replicas: number;
  readonly resources: Resources;
  readonly health: HealthCheck;
  /** What the Dockerfile of the last deployment says, for an app that does not say itself how it is asked. */
  readonly builtHealth?: HealthCheck | null;
  readonly command: readonly string[] | null;
  readonly http?: Partial<HttpRules>;
  readonly source: AppSource | null;
}

/** How an app is asked: as it says, else as its Dockerfile says, else by dialling its port. */
export function healthCheckOf({
  health,
  builtHealth,
}: Pick<AppSpec, 'health' | 'builtHealth'>): HealthCheck {
  const says = health.path !== undefined || health.tcp === true || health.command !== undefined;
  return says ? health : (builtHealth ?? health);
}

/** One app as we keep it. */
export interface HostedApp {
  readonly id: string;
  readonly name: string;
  readonly status: AppStatus;
  readonly desired: 'running' | 'stopped';
  /** Number of the deployment that serves; null before the first. */
  readonly deployment: number | null;
  readonly restarts: number;
  readonly error: string | null;
  readonly spec: AppSpec;
  readonly env: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  readonly created_at: string;
  readonly updated_at: string;
}

export type DeploymentStatus =
  | 'pending'
  | 'building'
  | 'deploying'
  | 'healthy'
  | 'failed'
  | 'superseded';
export type Trigger = 'create' | 'api' | 'webhook' | 'rollback' | 'template' | 'change';

export interface ProbeRecord {
  readonly at: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** One attempt to put something in an app's place. */
export interface Deployment {
  readonly app_id: string;
  readonly number: number;
  readonly status: DeploymentStatus;
  readonly trigger: Trigger;
  readonly source: AppSource;
  readonly image: string | null;
  readonly image_id: string | null;
  readonly port: number | null;
  /** How many containers it has. */
  readonly replicas: number;
  readonly reason: string | null;
  readonly probes: readonly ProbeRecord[];
  readonly log: readonly string[];
  readonly build_log: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}
