import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { RowButton } from '../../parts/button.tsx';
import { confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { formatBytes } from '../../parts/time.tsx';

interface Action {
  readonly title: string;
  readonly danger?: boolean;
  run(): Promise<unknown>;
}

/** The buttons of a model that make sense in its state. Each is named with the model's id. */
export function ModelActions({ model, reload }: { model: Model; reload: () => void }) {
  const [doing, setDoing] = useState(false);
  const act = async ({ run }: Action) => {
    setDoing(true);
    await run();
    setDoing(false);
    reload();
  };
  return (
    <span class="buttons">
      {actionsOf(model).map((action) => (
        <RowButton
          key={action.title}
          class={action.danger === true ? 'danger' : undefined}
          disabled={doing}
          verb={action.title}
          of={model.id}
          onClick={() => act(action)}
        />
      ))}
      {doing && <span class="quiet">{t('…')}</span>}
    </span>
  );
}

function actionsOf(model: Model): readonly Action[] {
  const { id, status, format, runnable } = model;
  const download: Action = {
    title: t('Download'),
    run: () =>
      attempt(
        () => call('POST', `${pathOf(id)}/download`),
        t('The download of {id} has begun', { id }),
      ),
  };
  const start: Action = {
    title: t('Start'),
    run: () =>
      attempt(() => call('POST', '/api/mlx/start', { model: id }), t('{id} is running', { id })),
  };
  if (status === 'available') return [download];
  if (status === 'downloading') return [cancelOf(model)];
  if (status === 'running') return [stopOf(model)];
  return [
    ...(runnable === false ? [] : [start]),
    ...(format === 'remote' ? [] : [deleteOf(model)]),
  ];
}

const cancelOf = ({ id, downloaded_bytes: bytes = 0 }: Model): Action => ({
  title: t('Cancel'),
  async run() {
    const given = { id, size: formatBytes(bytes) };
    const text = t('The download of {id} ends, and what it has read is deleted: {size}.', given);
    if (!(await confirm({ text, action: t('Cancel download') }))) return;
    await attempt(
      () => call('DELETE', `${pathOf(id)}/download`),
      t('The download of {id} is cancelled', { id }),
    );
  },
});

const stopOf = ({ id }: Model): Action => ({
  title: t('Stop'),
  async run() {
    const text = t('{id} stops. It answers no requests until you start it again.', { id });
    if (!(await confirm({ text, action: t('Stop') }))) return;
    await attempt(() => call('POST', '/api/mlx/stop'), t('{id} is stopped', { id }));
  },
});

const deleteOf = ({ id, size_bytes: bytes }: Model): Action => ({
  title: t('Delete'),
  danger: true,
  async run() {
    const text = t('{id} is deleted from the disk: {size}.', { id, size: formatBytes(bytes) });
    if (!(await confirm({ text, action: t('Delete') }))) return;
    await attempt(() => call('DELETE', pathOf(id)), t('{id} is deleted', { id }));
  },
});

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
const pathOf = (id: string): string =>
  `/api/mlx/models/${id.split('/').map(encodeURIComponent).join('/')}`;

export const TONES: Readonly<Record<Model['status'], 'plain' | 'busy' | 'good'>> = {
  ...{ available: 'plain', downloading: 'busy', downloaded: 'plain', running: 'good' },
};
