import { useState } from 'preact/hooks';
import { base, navigate, query } from '../../address.ts';
import { ApiError, call } from '../../call.ts';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { textIn, Field, Options } from '../../parts/field.tsx';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { notify } from '../../parts/notices.tsx';
import { Facts, Answer } from '../../parts/page.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import {
  ArchiveField,
  envOf,
  GitFields,
  gitOf,
  ImageField,
  uploadSource,
} from './source-fields.tsx';
import { type App, routeOf } from './types.ts';
import { useCall } from '../../parts/use-call.ts';

/** The values that a template generated for an app: they are shown only once. */
interface Generated {
  readonly app: string;
  readonly values: Readonly<Record<string, string>>;
}

/** The dialog `New app`. */
export function NewApp({ close }: { close: () => void }) {
  const [generated, setGenerated] = useState<Generated | null>(null);
  if (generated) return <GeneratedValues {...generated} close={() => openApp(generated.app)} />;
  const create = async (form: FormData) => {
    const name = textIn(form, 'name');
    const kind = query.value.get('from') ?? 'image';
    const values = await CREATE[kind]?.(name, form);
    notify(t('{name} is created', { name }));
    if (values && Object.keys(values).length > 0) setGenerated({ app: name, values });
    else openApp(name, kind);
  };
  return (
    <FormDialog
      title={t('New app')}
      action={t('Create app')}
      size="wide"
      {...{ close }}
      submit={create}
    >
      <Field
        label={t('Name')}
        name="name"
        required
        autofocus
        autocomplete="off"
        spellcheck={false}
        maxLength={63}
        pattern="[a-z][a-z0-9\-]*"
        hint={t('Lower case letters, digits and hyphens. Its address begins with it.')}
      />
      <Tabs
        label={t('Source of the app')}
        parameter="from"
        keep={['dialog', 'q', 'sort', 'order']}
        tabs={[
          { id: 'image', title: t('Image'), render: () => <ImageTab /> },
          { id: 'git', title: t('Git'), render: () => <GitTab /> },
          { id: 'archive', title: t('Archive'), render: () => <ArchiveTab /> },
          { id: 'template', title: t('Template'), render: () => <TemplateFields /> },
        ]}
      />
    </FormDialog>
  );
}

const ImageTab = () => (
  <div class="fields">
    <ImageField />
    <CommonFields />
  </div>
);

const GitTab = () => (
  <div class="fields">
    <GitFields />
    <CommonFields />
  </div>
);

const ArchiveTab = () => (
  <div class="fields">
    <ArchiveField />
    <CommonFields />
  </div>
);

/** The fields of every source but a template, which brings its own. */
function CommonFields() {
  return (
    <>
      <div class="side-by-side">
        <Field
          label={t('Port')}
          name="port"
          type="number"
          min={1}
          max={65535}
          hint={t('Where it listens, also in its PORT. Empty: the image’s own port, else 8080')}
        />
        <Field
          label={t('Domain')}
          name="domain"
          spellcheck={false}
          hint={t('Empty: its name below the domain of this server')}
        />
      </div>
      <Field label={t('Env')} name="env" hint={t('A line KEY=value for each')}>
        {(it) => <textarea {...it} rows={3} spellcheck={false} />}
      </Field>
    </>
  );
}

type Create = (name: string, form: FormData) => Promise<Readonly<Record<string, string>> | void>;

/** How an app of each source is made, by the id of its tab. */
const CREATE: Readonly<Record<string, Create>> = {
  image: async (name, form) => {
    const body = { name, image: textIn(form, 'image'), ...commonOf(form) };
    await call('POST', '/api/apps', body).catch((error: unknown) => unlessMade(name, error));
  },
  git: async (name, form) => {
    await call('POST', '/api/apps', { name, ...commonOf(form) });
    try {
      await call('POST', `${routeOf(name)}/deploy`, { git: gitOf(form) });
    } catch (error) {
      // Nothing was deployed, so the app is deleted: its name is free again, and the form can be
      // corrected.
      await call('DELETE', routeOf(name)).catch(() => {});
      throw error;
    }
  },
  archive: async (name, form) => {
    await uploadSource({ name, ...commonOf(form) }, form.get('source') as File);
  },
  template: async (name, form) => {
    const id = encodeURIComponent(textIn(form, 'template'));
    const domain = textIn(form, 'domain');
    const body = { name, env: templateEnvOf(form), ...(domain !== '' && { domain }) };
    const made = await call<App & { generated: Record<string, string> }>(
      'POST',
      `/api/templates/${id}/deploy`,
      body,
    );
    return made.generated;
  },
};

/**
 * An image that was pulled and did not become ready stays as a failed app, whose page says why. Where
 * the server kept nothing, the form shows the error.
 */
async function unlessMade(name: string, error: unknown): Promise<void> {
  if (!(error instanceof ApiError) || error.status !== 502) throw error;
  const made = await call('GET', routeOf(name)).catch(() => null);
  if (!made) throw error;
}

function commonOf(form: FormData): Record<string, unknown> {
  const [port, domain] = [textIn(form, 'port'), textIn(form, 'domain')];
  const env = envOf(String(form.get('env') ?? ''));
  return {
    ...(port !== '' && { port: Number(port) }),
    ...(domain !== '' && { domain }),
    ...(Object.keys(env).length > 0 && { env }),
  };
}

/** Opens the app's page; for a build, the tab that shows its output. */
const openApp = (name: string, kind = 'image') =>
  navigate(`${base}/apps/${name}${kind === 'image' ? '' : '?tab=deployments&deployment=1'}`, {
    replace: true,
  });

function GeneratedValues({ app, values, close }: Generated & { close: () => void }) {
  return (
    <Dialog title={t('{name} is created', { name: app })} close={close}>
      <p>{t('These values were generated. They are shown only once: save them now.')}</p>
      <Facts
        rows={Object.entries(values).map(([key, value]) => [key, <code key={key}>{value}</code>])}
      />
      <div class="buttons end">
        <Button class="main" onClick={close}>
          {t('I saved them')}
        </Button>
      </div>
    </Dialog>
  );
}

interface Template {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly image: string;
  readonly env: readonly {
    readonly key: string;
    readonly description: string;
    readonly secret?: boolean;
    readonly default?: string;
    readonly generate?: number;
  }[];
  readonly volumes: readonly { readonly name: string; readonly path: string }[];
}

/** Marks the fields of the form that are variables of the template. */
const PREFIX = 'env:';

/**
 * The choice of a template, with its variables. Those that the template generates may stay empty.
 */
function TemplateFields() {
  const answer = useCall<{ readonly templates: readonly Template[] }>('/api/templates');
  const [id, setId] = useState('');
  return (
    <Answer of={answer}>
      {({ templates }) => {
        const chosen = templates.find((each) => each.id === id) ?? templates[0];
        return (
          <div class="fields">
            <Field label={t('Template')} name="template" required>
              {(it) => (
                <select {...it} value={chosen?.id} onChange={(e) => setId(e.currentTarget.value)}>
                  {byCategory(templates).map(([category, some]) => (
                    <optgroup key={category} label={category}>
                      <Options
                        of={some.map(({ id, name }) => [id, name])}
                        {...(chosen && { chosen: chosen.id })}
                      />
                    </optgroup>
                  ))}
                </select>
              )}
            </Field>
            {chosen && <Variables key={chosen.id} template={chosen} />}
          </div>
        );
      }}
    </Answer>
  );
}

function Variables({ template }: { template: Template }) {
  const { description, image, env, volumes } = template;
  return (
    <>
      <p class="about">
        {description} <code>{image}</code>
        {volumes.length > 0 && ` · ${t('{n} volumes', { n: volumes.length })}`}
      </p>
      <Field label={t('Domain')} name="domain" spellcheck={false} />
      {env.map(({ key, description: hint, secret, default: given, generate }) => (
        <Field
          key={key}
          label={key}
          name={`${PREFIX}${key}`}
          type={secret === true ? 'password' : 'text'}
          autocomplete="off"
          spellcheck={false}
          defaultValue={given ?? ''}
          required={given === undefined && generate === undefined}
          hint={generate === undefined ? hint : t('{hint} Generated when it is empty.', { hint })}
        />
      ))}
    </>
  );
}

const byCategory = (templates: readonly Template[]) => [
  ...Map.groupBy(templates, ({ category }) => category),
];

/** The variables that were filled in. */
function templateEnvOf(form: FormData): Record<string, string> {
  const keys = [...form.keys()].filter((name) => name.startsWith(PREFIX));
  const given = keys.map((name) => [name.slice(PREFIX.length), textIn(form, name)] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== ''));
}
