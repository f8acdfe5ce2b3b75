import { useState } from 'preact/hooks';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { can } from '../../parts/can.ts';
import { attempt } from '../../parts/notices.tsx';
import { type AppProps, routeOf } from './types.ts';

/** A hint that changed settings take effect with the next deployment, and a button for it. */
export function ApplyHint({ app, reload }: AppProps) {
  const [busy, setBusy] = useState(false);
  if (app.deployment === null || !can('apps:write')) return null;
  const apply = async () => {
    setBusy(true);
    const path = `${routeOf(app.name)}?apply=true`;
    await attempt(
      () => call('PATCH', path, {}),
      t('{name} is running with the new settings', { name: app.name }),
    );
    setBusy(false);
    reload();
  };
  return (
    <p class="apply-hint">
      <span class="quiet">{t('Changes are used by the next deployment.')}</span>
      <Button disabled={busy} onClick={apply}>
        {t('Apply now')}
      </Button>
    </p>
  );
}
