/** The life of a process: it ends with one of its calls to an engine. */
export interface Life {
  /** Calls to engines until the last one; each counts down. */
  calls: number;
  /** Whether the last call still takes effect. */
  readonly takesEffect: boolean;
  /** Resolves when the process has died. */
  readonly over: Promise<void>;
}

/** A life of so many calls, and the end of it. */
export function lifeOf(calls: number, takesEffect: boolean): Life & { readonly end: () => void } {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  return { calls, takesEffect, over, end };
}

/** An engine as a mortal process calls it: no call made at or after its death is ever answered. */
export function mortal<Engine extends object>(engine: Engine, life: ReturnType<typeof lifeOf>): Engine {
  const silence = new Promise<never>(() => undefined);
  return new Proxy(engine, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== "function") return member;
      return async (...asked: unknown[]): Promise<unknown> => {
        life.calls -= 1;
        if (life.calls > 0) return Reflect.apply(member, target, asked) as unknown;
        if (life.calls === 0 && life.takesEffect) await Reflect.apply(member, target, asked);
        life.end();
        return silence;
      };
    },
  });
}
