import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal } from '@xterm/xterm';
import css from '@xterm/xterm/css/xterm.css';
import { t } from '../../messages.ts';

/** A terminal on the page. */
export interface Screen {
  size(): { readonly cols: number; readonly rows: number };
  connect(path: string, ticket: string, handlers: ScreenHandlers): void;
  /** Closes the connection; what was printed stays until the next one. */
  close(): void;
}

/** Why a terminal ended. */
export interface TerminalEnd {
  /**
   * The exit code of the command; undefined when the connection broke, null when it is not known.
   */
  readonly exit: number | null | undefined;
  readonly code: number;
  readonly reason: string;
}

interface ScreenHandlers {
  onOpen(): void;
  onEnd(end: TerminalEnd): void;
}

const PROTOCOL = 'twofold.terminal';
const SCROLLBACK = 5000;

/**
 * Makes a terminal in an element.
 *
 * @param leave gives the focus away, because Tab is the terminal's own key
 */
export function createScreen(place: HTMLElement, leave: () => void): Screen {
  const terminal = new Terminal({
    fontFamily: 'ui-monospace, monospace',
    fontSize: 13,
    scrollback: SCROLLBACK,
    theme: themeOf(place),
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    minimumContrastRatio: 4.5,
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  place.replaceChildren();
  adoptStyles();
  terminal.open(place);
  terminal.textarea?.setAttribute('aria-label', t('Terminal input'));
  terminal.attachCustomKeyEventHandler((event) => !leaves(event, leave));
  fit.fit();
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(place);
  let socket: WebSocket | null = null;
  return {
    size: () => ({ cols: terminal.cols, rows: terminal.rows }),
    connect(path, ticket, handlers) {
      socket = join(terminal, new WebSocket(addressOf(path), [PROTOCOL, ticket]), {
        ...handlers,
        onEnd(end) {
          observer.disconnect();
          handlers.onEnd(end);
        },
      });
      terminal.focus();
    },
    close() {
      observer.disconnect();
      socket?.close();
      if (!socket || !place.isConnected) terminal.dispose();
    },
  };
}

const styles = new CSSStyleSheet();

/** The style sheet of the terminal's package, once for the document. */
function adoptStyles(): void {
  if (document.adoptedStyleSheets.includes(styles)) return;
  styles.replaceSync(css);
  document.adoptedStyleSheets.push(styles);
}

const addressOf = (path: string) => new URL(path, location.origin.replace(/^http/, 'ws'));

function leaves(event: KeyboardEvent, leave: () => void): boolean {
  if (event.key !== 'Escape' || !event.shiftKey) return false;
  if (event.type === 'keydown') leave();
  return true;
}

/** Connects the terminal and its socket: sends what is typed and prints what arrives. */
function join(terminal: Terminal, socket: WebSocket, handlers: ScreenHandlers): WebSocket {
  const encoder = new TextEncoder();
  let exit: number | null | undefined;
  socket.binaryType = 'arraybuffer';
  const send = (data: string | Uint8Array<ArrayBuffer>) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data);
  };
  const typed = terminal.onData((text) => send(encoder.encode(text)));
  const bytes = terminal.onBinary((text) =>
    send(Uint8Array.from(text, (each) => each.charCodeAt(0))),
  );
  const sized = terminal.onResize(({ cols, rows }) =>
    send(JSON.stringify({ resize: { cols, rows } })),
  );
  socket.addEventListener('open', handlers.onOpen);
  socket.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (typeof data === 'string') exit = (JSON.parse(data) as { exit: number | null }).exit;
    else terminal.write(new Uint8Array(data));
  });
  socket.addEventListener('close', ({ code, reason }) => {
    for (const listener of [typed, bytes, sized]) listener.dispose();
    terminal.options.cursorBlink = false;
    terminal.options.disableStdin = true;
    handlers.onEnd({ exit, code, reason });
  });
  return socket;
}

/** The colours of the console. */
function themeOf(place: HTMLElement): ITheme {
  const { color, backgroundColor } = getComputedStyle(place);
  return {
    background: hexOf(backgroundColor),
    foreground: hexOf(color),
    cursor: hexOf(color),
    selectionBackground: '#7f9fbf80',
  };
}

/** A canvas turns any colour of CSS into one that the terminal reads. */
function hexOf(color: string): string {
  const pencil = document.createElement('canvas').getContext('2d');
  if (!pencil) return color;
  pencil.fillStyle = color;
  return pencil.fillStyle;
}
