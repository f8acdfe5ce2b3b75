import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../messages.ts';
import { Button } from '../../parts/button.tsx';
import { Panel } from '../../parts/page.tsx';
import { formatNumber, formatTenths } from '../../parts/time.tsx';
import { failureText } from '../../parts/use-call.ts';
import { ApiError, callStream } from '../../call.ts';
import { eventsIn } from '../../parts/event-frames.ts';

/** A chat with the model that runs. Its answers are shown as text and never as markup. */
export function Chat({ model }: { model: string }) {
  const { messages, status, refused, busy, send, stop, clear } = useChat(model);
  const onSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = String(new FormData(form).get('message')).trim();
    if (text === '' || busy) return;
    form.reset();
    void send(text);
  };
  return (
    <Panel name={t('Chat with {model}', { model })}>
      <Conversation messages={messages} busy={busy} />
      {refused !== null && <p role="alert">{refused}</p>}
      <form class="chat-form" onSubmit={onSubmit}>
        <label for="chat-message">{t('Message')}</label>
        <textarea
          id="chat-message"
          name="message"
          rows={2}
          required
          onKeyDown={(event) => sendByEnter(event)}
        />
        <div class="buttons">
          <button type="submit" class="main" disabled={busy}>
            {t('Send')}
          </button>
          <Button disabled={!busy} onClick={stop}>
            {t('Stop generating')}
          </Button>
          <Button class="plain" disabled={busy || messages.length === 0} onClick={clear}>
            {t('New chat')}
          </Button>
          <span role="status" class="quiet">
            {status}
          </span>
        </div>
      </form>
    </Panel>
  );
}

/** The messages of a chat, of which the model answers the last one. */
function useChat(model: string) {
  const [messages, setMessages] = useState<readonly ChatMessage[]>([]);
  const [status, setStatus] = useState('');
  const [refused, setRefused] = useState<string | null>(null);
  const running = useRef<AbortController | null>(null);
  const [busy, setBusy] = useState(false);
  useEffect(() => () => running.current?.abort(), []);
  const send = async (text: string) => {
    const asked = [...messages, { role: 'user', content: text }] as const;
    const leaving = new AbortController();
    running.current = leaving;
    setBusy(true);
    setRefused(null);
    setStatus(t('The model is reading'));
    try {
      await ask({ model, messages: asked }, leaving.signal, (content, rate) => {
        setMessages([...asked, { role: 'assistant', content }]);
        setStatus(rateText(rate));
      });
    } catch (error) {
      setMessages((last) => (last.length > asked.length ? last : asked));
      if (!leaving.signal.aborted) setRefused(failureText(error));
    }
    if (leaving.signal.aborted) setStatus((last) => t('Stopped. {last}', { last }));
    setBusy(false);
  };
  const stop = () => running.current?.abort();
  const clear = () => (setMessages([]), setStatus(''));
  return { messages, status, refused, busy, send, stop, clear };
}

/** Shift+Enter is a new line. */
function sendByEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.target as HTMLTextAreaElement).form?.requestSubmit();
}

const rateText = ({ tokens, seconds }: ChatRate) =>
  t('{n} tokens, {rate} tokens/s', {
    n: formatNumber(tokens),
    rate: formatTenths(tokens / Math.max(seconds, 0.001)),
  });

function Conversation({ messages, busy }: { messages: readonly ChatMessage[]; busy: boolean }) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.scrollTo(0, list.current.scrollHeight);
  }, [messages]);
  if (messages.length === 0)
    return <p class="quiet">{t('Ask the model something. The chat is not kept.')}</p>;
  return (
    <ol class="chat" ref={list} aria-label={t('Messages')} aria-busy={busy} tabIndex={0}>
      {messages.map(({ role, content }, index) => (
        <li key={index} class={`chat-${role}`}>
          <b class="chat-who">{role === 'user' ? t('You') : t('Model')}</b>
          <p class="chat-text">{content}</p>
        </li>
      ))}
    </ol>
  );
}

interface ChatMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** How fast an answer comes. */
interface ChatRate {
  readonly tokens: number;
  readonly seconds: number;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string } }[];
  readonly usage?: { readonly completion_tokens?: number } | null;
  readonly error?: { readonly message: string };
}

/**
 * Asks the running model, and passes on the answer so far after each piece.
 *
 * @throws ApiError when the server refuses or the model ends
 */
async function ask(
  body: { readonly model: string; readonly messages: readonly ChatMessage[] },
  signal: AbortSignal,
  onContent: (content: string, rate: ChatRate) => void,
): Promise<void> {
  const request = { ...body, stream: true, stream_options: { include_usage: true } };
  const path = '/api/mlx/v1/chat/completions';
  const answer = await callStream('POST', path, request, { signal });
  let [content, tokens, began] = ['', 0, 0];
  for await (const events of eventsIn(answer)) {
    for (const { data } of events) {
      if (data === '[DONE]') continue;
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error) throw new ApiError(502, chunk.error.message, null);
      const piece = chunk.choices?.[0]?.delta?.content ?? '';
      began ||= performance.now();
      content += piece;
      tokens = chunk.usage?.completion_tokens ?? tokens + (piece === '' ? 0 : 1);
    }
    onContent(content, { tokens, seconds: (performance.now() - began) / 1000 });
  }
}
