import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../messages.ts';
import type { EditorHandle, EditorLanguage, EditorProblem } from './editor-types.ts';

export type { EditorLanguage, EditorProblem } from './editor-types.ts';

interface EditorProps {
  /** The name of the textbox. */
  readonly label: string;
  readonly language: EditorLanguage;
  readonly value: string;
  /** Called after each change; without it the text is read-only. */
  readonly change?: (text: string) => void;
  /** Called for Ctrl+Enter. */
  readonly run?: () => void;
  /** Errors at positions of the text. The next change removes them. */
  readonly marks?: readonly EditorProblem[];
  /** The SDL of the schema: completion and checks of `graphql`. */
  readonly schema?: string | undefined;
  /** Called with the position of the cursor, as an offset. */
  readonly at?: (offset: number) => void;
  readonly placeholder?: string;
  /** `small` is about five lines high, `tall` about twenty. */
  readonly size?: 'small' | 'tall';
}

/**
 * A text in a language, with its colours: an editor of CodeMirror that is loaded when the first is
 * shown. Tab leaves it, and Ctrl+Space completes. When its files cannot be loaded, it is a plain
 * text box.
 *
 * @example
 * <Editor label={t('Meta')} language="json" value={text} change={setText} />
 * <Editor label={t('SDL')} language="graphql" value={sdl} />
 */
export function Editor(props: EditorProps) {
  const { value, change, size = 'small' } = props;
  const given = useRef(value);
  const host = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle | null>(null);
  const [plain, setPlain] = useState(false);
  const [ready, setReady] = useState(false);
  const latest = useRef(props);
  latest.current = {
    ...props,
    ...(change && { change: (text: string) => ((given.current = text), change(text)) }),
  };
  useEffect(() => {
    if (!host.current) return;
    const { leave, opened } = open(host.current, latest);
    opened.then(
      (editor) => {
        handle.current = editor;
        editor?.set(latest.current.value);
        setReady(editor !== null);
      },
      () => setPlain(true),
    );
    return () => (leave(), (handle.current = null));
  }, []);
  // A value that came from the editor itself is not set again, because the user may have typed more
  // since.
  const isNew = value !== given.current;
  useEffect(() => {
    if (!isNew) return;
    given.current = value;
    handle.current?.set(value);
  }, [value, isNew, ready]);
  useEffect(() => handle.current?.mark(props.marks ?? []), [props.marks, ready]);
  useEffect(() => void handle.current?.setSchema(props.schema), [props.schema, ready]);
  if (plain) return <PlainEditor {...props} />;
  return <div ref={host} class={`editor ${size}`} aria-busy={!ready} />;
}

function PlainEditor({ label, value, change, size }: EditorProps) {
  return (
    <textarea
      class={`editor ${size ?? 'small'}`}
      aria-label={label}
      title={t('The editor could not be loaded')}
      spellcheck={false}
      value={value}
      readOnly={!change}
      onInput={(event) => change?.(event.currentTarget.value)}
    />
  );
}

/** Creates the editor, unless the component was removed meanwhile. */
function open(host: HTMLElement, latest: { readonly current: EditorProps }) {
  let gone = false;
  let made: EditorHandle | null = null;
  const opened = import('./editor-view.ts').then(async ({ createEditor }) => {
    const { label, language, value, change, placeholder } = latest.current;
    if (gone) return null;
    made = await createEditor(host, {
      label,
      language,
      value,
      placeholder: placeholder ?? '',
      readOnly: change === undefined,
      change: (text) => latest.current.change?.(text),
      at: (offset) => latest.current.at?.(offset),
      run: () => latest.current.run?.(),
    });
    if (gone) made.close();
    return gone ? null : made;
  });
  const leave = () => {
    gone = true;
    made?.close();
  };
  return { leave, opened };
}
