/** A language model, as `GET /api/mlx/models` has it. */
export interface Model {
  readonly id: string;
  readonly name: string;
  readonly size_bytes: number;
  readonly format: 'gguf' | 'mlx' | 'remote';
  readonly quantization: string | null;
  readonly status: 'available' | 'downloading' | 'downloaded' | 'running';
  readonly licence?: string | null;
  /** Whether the engine of this server runs it. */
  readonly runnable?: boolean;
  /** 0 to 1. */
  readonly progress?: number;
  readonly downloaded_bytes?: number;
  /** Why its last download or start failed. */
  readonly error?: string;
}

export interface Models {
  readonly models: readonly Model[];
  readonly running: string | null;
  readonly engine: string | null;
  readonly eligible: boolean;
  /** Why no model can run on this server. */
  readonly reason?: string;
  readonly state?: 'stopped' | 'starting' | 'running' | 'restarting';
}

/** An id holds a slash, which stays one. */
export const pathOf = (id: string): string =>
  `/api/mlx/models/${id.split('/').map(encodeURIComponent).join('/')}`;

export const TONES: Readonly<Record<Model['status'], 'plain' | 'busy' | 'good'>> = {
  ...{ available: 'plain', downloading: 'busy', downloaded: 'plain', running: 'good' },
};
