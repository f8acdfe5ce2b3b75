import { base, navigate, query, setQuery } from '../../address.ts';
import { call } from '../../call.ts';
import { t } from '../../messages.ts';
import { notify, notifyFailure } from '../../parts/notices.tsx';
import { routeOf, type App, type Deployment, sourceText } from './types.ts';
import { textIn } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/dialog.tsx';
import { type Tab, Tabs } from '../../parts/tabs.tsx';
import { ArchiveField, GitFields, gitOf, ImageField, uploadSource } from './source-fields.tsx';

interface DeployProps {
  readonly app: App;
  reload(): void;
  close(): void;
}

/** A dialog that deploys the last source again, or another source. */
export function DeployDialog({ app, reload, close }: DeployProps) {
  const leave = () => {
    close();
    setQuery({ from: null }, { replace: true });
  };
  const submit = async (form: FormData) => {
    await untilAccepted(begin(app, form), (deployment) => finished(app, deployment, reload));
    close();
    navigate(`${base}/apps/${app.name}?tab=deployments`);
    reload();
  };
  return (
    <FormDialog
      title={t('Deploy {name}', { name: app.name })}
      action={t('Deploy')}
      size="wide"
      close={leave}
      submit={submit}
    >
      <Tabs label={t('Source')} parameter="from" keep={['tab', 'deployment']} tabs={tabsOf(app)} />
    </FormDialog>
  );
}

/** The tab of the last source comes first. An archive is not kept, but its image is. */
function tabsOf({ source, image }: App): readonly Tab[] {
  const again = t('Deploys the last source again: {source}', { source: sourceText(source) });
  const tabs: readonly Tab[] = [
    { id: 'again', title: t('Again'), render: () => <p>{again}</p> },
    { id: 'image', title: t('Image'), render: () => <ImageField image={image} /> },
    { id: 'git', title: t('Git'), render: () => <GitTab source={source} /> },
    { id: 'archive', title: t('Archive'), render: () => <ArchiveField /> },
  ];
  const first = firstTab(source);
  const shown = tabs.filter(({ id }) => id === first || id !== 'again');
  return shown.toSorted((a, b) => Number(b.id === first) - Number(a.id === first));
}

function firstTab(source: App['source']): string {
  if (source === null) return 'image';
  return source.kind === 'image' || source.kind === 'git' ? source.kind : 'again';
}

const GitTab = ({ source }: Pick<App, 'source'>) => (
  <div class="fields">
    <GitFields source={source} />
  </div>
);

function begin({ name, source }: App, form: FormData): Promise<Deployment> {
  const from = query.value.get('from') ?? firstTab(source);
  const path = `${routeOf(name)}/deploy`;
  if (from === 'archive') return uploadSource({ name }, form.get('source') as File);
  if (from === 'git') return call('POST', path, { git: gitOf(form) });
  return call('POST', path, from === 'image' ? { image: textIn(form, 'image') } : {});
}

/** Milliseconds after which a deployment that was not refused counts as started. */
const ACCEPTED = 1000;

/**
 * The response for an image comes when the app serves. The form waits only for a refusal; a notice
 * reports the end.
 */
async function untilAccepted(
  answer: Promise<Deployment>,
  done: (deployment: Deployment) => void,
): Promise<void> {
  let open = true;
  const settled = answer.then(done, (error: unknown) => {
    if (open) throw error;
    notifyFailure(error);
  });
  await Promise.race([settled, new Promise((resolve) => setTimeout(resolve, ACCEPTED))]);
  open = false;
}

function finished({ name }: App, { number, status }: Deployment, reload: () => void): void {
  const given = { name, n: number };
  notify(
    status === 'healthy'
      ? t('{name} serves deployment {n}', given)
      : t('{name}: deployment {n} has started', given),
  );
  reload();
}
