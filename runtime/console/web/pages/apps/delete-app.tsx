import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { attempt } from '../../parts/notices.tsx';
import { useCall } from '../../parts/use-call.ts';
import { formatBytes } from '../../parts/time.tsx';
import { type App, routeOf } from './types.ts';
import type { Volumes } from './volumes.tsx';

interface DeleteAppProps {
  readonly app: App;
  close(): void;
  deleted(): void;
}

/** Asks for the app's name, and whether its volumes go with it. */
export function DeleteApp({ app, close, deleted }: DeleteAppProps) {
  const { name, volumes } = app;
  const sizes = useCall<Volumes>(volumes.length > 0 ? `${routeOf(name)}/volumes` : null);
  const [withVolumes, setWithVolumes] = useState(false);
  const remove = async () => {
    close();
    const path = withVolumes ? `${routeOf(name)}?volumes=true` : routeOf(name);
    if (await attempt(() => call('DELETE', path), t('{name} is deleted', { name }))) deleted();
  };
  const text = [
    t('{name} is deleted with its deployments, environment, secrets and domains.', { name }),
    volumesText(app, sizes.data),
  ];
  return (
    <Confirm
      text={text.filter(Boolean).join(' ')}
      action={t('Delete app')}
      typed={name}
      confirm={() => void remove()}
      cancel={close}
    >
      {volumes.length > 0 && (
        <label class="choice">
          <input
            type="checkbox"
            checked={withVolumes}
            onChange={(event) => setWithVolumes(event.currentTarget.checked)}
          />
          {t('Delete its volumes too')}
        </label>
      )}
    </Confirm>
  );
}

function volumesText({ volumes }: App, sizes: Volumes | undefined): string {
  if (volumes.length === 0) return '';
  const list = volumes.map(({ name }) => {
    const bytes = sizes?.volumes.find((each) => each.name === name)?.bytes ?? null;
    return bytes === null ? name : `${name} (${formatBytes(bytes)})`;
  });
  return t('Its volumes are kept, unless you tick the box: {list}.', { list: list.join(', ') });
}
