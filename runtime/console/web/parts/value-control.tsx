import { useEffect, useRef, useState } from 'preact/hooks';
import { textOf, valueOf } from '../field-text.ts';
import { t } from '../messages.ts';
import type { InputField } from '../rest-modules.ts';

interface ValueControlProps {
  readonly field: InputField;
  readonly value: unknown;
  /** Called with the new value, or with nothing when it was dropped. */
  done(next?: { readonly value: unknown }): void;
}

/** The control of a cell that is edited, named by its column. */
export function ValueControl({ field, value, done }: ValueControlProps) {
  const root = useRef<HTMLSpanElement>(null);
  const [wrong, setWrong] = useState(false);
  useEffect(() => root.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), []);
  const finish = (text: string) => {
    try {
      const next = valueOf(field, text);
      done(next === undefined ? undefined : { value: next });
    } catch {
      setWrong(true);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') return done();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    finish((event.target as HTMLInputElement).value);
  };
  return (
    <span ref={root} onKeyDown={onKeyDown}>
      <Control field={field} text={textOf(field, value)} invalid={wrong} />
      {field.nullable && (
        <button type="button" onClick={() => done({ value: null })}>
          NULL
        </button>
      )}
    </span>
  );
}

/** A control for the text of a value, with the name of the field. */
export function Control({
  field,
  text,
  invalid = false,
}: {
  field: InputField;
  text: string;
  invalid?: boolean;
}) {
  const { name, kind } = field;
  const choices = kind === 'boolean' ? ['true', 'false'] : field.values;
  if (kind === 'enum' || kind === 'boolean')
    return (
      <select name={name} aria-label={name} defaultValue={text}>
        {text === '' && <option value="" />}
        {choices.map((choice) => (
          <option key={choice} value={choice} selected={choice === text}>
            {choice}
          </option>
        ))}
      </select>
    );
  if (kind === 'json')
    return (
      <textarea
        name={name}
        aria-label={name}
        aria-invalid={invalid}
        title={invalid ? t('This is no JSON') : ''}
        defaultValue={text}
      />
    );
  return <input name={name} aria-label={name} defaultValue={text} />;
}
