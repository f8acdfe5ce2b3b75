import { useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { textIn } from '../../parts/form-text.ts';
import { Field } from '../../parts/field.tsx';
import { Answer } from '../../parts/page.tsx';
import { useCall } from '../../parts/use-call.ts';

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
export function TemplateFields() {
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
                      {some.map((each) => (
                        <option key={each.id} value={each.id} selected={each.id === chosen?.id}>
                          {each.name}
                        </option>
                      ))}
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
export function templateEnvOf(form: FormData): Record<string, string> {
  const keys = [...form.keys()].filter((name) => name.startsWith(PREFIX));
  const given = keys.map((name) => [name.slice(PREFIX.length), textIn(form, name)] as const);
  return Object.fromEntries(given.filter(([, text]) => text !== ''));
}
