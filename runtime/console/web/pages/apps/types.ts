/** The limits of an app; 0 means no limit. */
export interface Resources {
  readonly memory_mb: number;
  readonly cpus: number;
  readonly pids: number;
}

/** An app, as `GET /api/apps` has it. */
export interface App {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  /** Null for a worker, as `port` and `url`. */
  readonly domain: string | null;
  readonly aliases: readonly string[];
  readonly image: string | null;
  readonly port: number | null;
  readonly env: Readonly<Record<string, string>>;
  readonly volumes: readonly { readonly name: string; readonly path: string }[];
  readonly replicas: number;
  readonly resources: Resources;
  readonly health: Health;
  readonly http: { readonly max_connections: number };
  readonly command?: readonly string[];
  readonly cron?: readonly Cron[];
  readonly backup?: { readonly schedule: string | null };
  readonly source: Source | null;
  /** Number of the deployment that serves. */
  readonly deployment: number | null;
  readonly url: string | null;
  readonly restarts: number;
  readonly error?: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** A schedule of an app. */
export interface Cron {
  readonly name: string;
  /** Five fields, or six with seconds first. */
  readonly schedule: string;
  /** UTC when it is absent. */
  readonly timezone?: string;
  readonly command: readonly string[];
}

/** A run, as `GET /api/apps/:name/runs` has it. */
export interface Run {
  readonly id: string;
  /** The schedule that began it; null for one by hand. */
  readonly cron: string | null;
  readonly command: readonly string[];
  readonly status: 'running' | 'done' | 'failed' | 'timeout' | 'stopped' | 'lost';
  readonly exit_code: number | null;
  readonly started_at: string;
  readonly finished_at: string | null;
}

export interface Health {
  readonly path?: string;
  readonly tcp?: boolean;
  readonly command?: readonly string[];
  readonly interval_s: number;
  readonly timeout_s: number;
  readonly retries: number;
}

/** Where the image of a deployment comes from. */
export interface Source {
  readonly kind: 'image' | 'git' | 'tarball' | 'template';
  readonly image?: string;
  readonly url?: string;
  readonly ref?: string;
  readonly path?: string;
  readonly commit?: string;
  readonly template?: string;
}

export interface Deployment {
  readonly number: number;
  readonly status:
    | 'pending'
    | 'building'
    | 'deploying'
    | 'healthy'
    | 'failed'
    | 'cancelled'
    | 'superseded';
  readonly current: boolean;
  readonly trigger: string;
  readonly source: Source;
  readonly image: string | null;
  readonly reason: string | null;
  readonly probes: readonly {
    readonly at: string;
    readonly ok: boolean;
    readonly detail: string;
  }[];
  /** The last lines of an app that did not become ready. */
  readonly log: readonly string[];
  readonly has_build_log: boolean;
  readonly created_at: string;
  readonly finished_at: string | null;
}

/** The use of an app at one moment. */
export interface Stats {
  /** Percent of one core. */
  readonly cpu_percent: number | null;
  readonly memory_bytes: number;
  readonly network_in_bytes: number;
  readonly network_out_bytes: number;
  readonly pids: number;
  readonly replicas: readonly {
    readonly replica: number;
    readonly cpu_percent: number | null;
    readonly memory_bytes: number;
    readonly memory_limit_bytes: number;
    readonly pids: number;
  }[];
}

/** Props of the parts of an app's page. */
export interface AppProps {
  readonly app: App;
  /** The newest first. */
  readonly deployments: readonly Deployment[];
  /** Reads both again. */
  reload(): void;
}

/** Props of a part that reads its list again. */
export interface AgainProps extends Pick<AppProps, 'app'> {
  again(): void;
}

/** What the API shows in place of a secret. */
export const MASK = '********';

/** The address of an app's routes. */
export const routeOf = (name: string): string => `/api/apps/${encodeURIComponent(name)}`;

const TONES: Readonly<Record<string, 'good' | 'bad' | 'busy'>> = {
  ...{ running: 'good', healthy: 'good', failed: 'bad', crashed: 'bad' },
  ...{ building: 'busy', deploying: 'busy', restarting: 'busy', pending: 'busy' },
};

/** The colour that underlines a status. */
export const toneOf = (status: string) => TONES[status] ?? 'plain';

/** Whether the app is changing, so that its state is read more often. */
export const isBusy = (status: string): boolean => TONES[status] === 'busy';

/** A source in one line. */
export function sourceText(source: Source | null): string {
  if (source === null) return '–';
  const { kind, image, url, ref, path, commit, template } = source;
  if (kind === 'image') return image ?? '';
  if (kind === 'template') return `${template} (${image})`;
  if (kind === 'tarball') return 'archive';
  const at = [ref, commit?.slice(0, 8)].filter(Boolean).join(' ');
  return [url, at && `@ ${at}`, path && `/${path}`].filter(Boolean).join(' ');
}
