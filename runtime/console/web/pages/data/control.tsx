import type { InputField } from '../../rest-modules.ts';
import { RelationSearch, type RelationSearchProps } from './relation-search.tsx';
import { useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Options } from '../../parts/field.tsx';
import { CloseButton } from '../../parts/button.tsx';

interface ControlProps {
  readonly field: InputField;
  readonly text: string;
  readonly invalid?: boolean;
  /** Whether the control is in a form. An empty choice then leaves the field out. */
  readonly inForm?: boolean;
  readonly id?: string;
  /** Called with a row that was chosen from a list. */
  choose?(id: string, label: string): void;
}

/** A control for the text of a value, with the name of the field. */
export function Control(props: ControlProps) {
  const { field, text, invalid = false, inForm = false, id } = props;
  const { name, kind, keyOf, required } = field;
  const common = {
    name,
    'aria-label': name,
    'aria-invalid': invalid || undefined,
    ...(id !== undefined && { id }),
    required: inForm && required,
  };
  if (keyOf && kind === 'json') return <RelatedRows {...props} keyOf={keyOf} />;
  if (keyOf) return <RelationSearch {...props} keyOf={keyOf} />;
  if (kind === 'enum' || kind === 'boolean') return <Choices {...props} common={common} />;
  if (kind === 'json')
    return <textarea {...common} rows={5} spellcheck={false} defaultValue={text} />;
  if (text.includes('\n') || text.length > LONG)
    return <textarea {...common} rows={4} defaultValue={text} />;
  if (kind === 'date') return <input {...common} type="date" defaultValue={text} />;
  if (kind === 'timestamp')
    return (
      <span class="utc">
        <input {...common} type="datetime-local" step="any" defaultValue={text.replace('Z', '')} />
        UTC
      </span>
    );
  return (
    <input
      {...common}
      inputMode={INPUT_MODES[kind] ?? 'text'}
      placeholder={PLACEHOLDERS[kind]}
      autocomplete="off"
      defaultValue={text}
    />
  );
}

/** Characters from which on a text has several lines. */
const LONG = 60;

const INPUT_MODES: Partial<Record<InputField['kind'], 'numeric' | 'decimal'>> = {
  integer: 'numeric',
  number: 'decimal',
};

const PLACEHOLDERS: Partial<Record<InputField['kind'], string>> = {
  time: '12:00:00',
  bytes: 'base64',
};

function Choices({
  field,
  text,
  common,
}: ControlProps & { readonly common: Readonly<Record<string, unknown>> }) {
  const choices = field.kind === 'boolean' ? ['true', 'false'] : field.values;
  return (
    <select {...common} defaultValue={text}>
      {(text === '' || field.nullable) && <option value="" selected={text === ''} />}
      <Options of={choices.map((choice) => [choice, choice])} chosen={text} />
    </select>
  );
}

/** Chooses several related rows. The form has their ids as JSON. */
function RelatedRows(props: RelationSearchProps) {
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>({});
  const ids = Object.keys(chosen);
  return (
    <span>
      {/* A form takes the first control of a name. */}
      <input
        type="hidden"
        name={props.field.name}
        value={ids.length > 0 ? JSON.stringify(ids) : ''}
      />
      <RelationSearch
        {...props}
        choose={(id, label) => setChosen({ ...chosen, [String(id)]: label })}
      />
      <ul class="chips">
        {ids.map((id) => (
          <li key={id}>
            {id} {chosen[id]}
            <CloseButton
              label={t('Remove {id}', { id })}
              onClick={() => setChosen(({ [id]: _removed, ...others }) => others)}
            />
          </li>
        ))}
      </ul>
    </span>
  );
}
