interface CocosEvents {
  on(type: string, callback: () => void): unknown;
  once(type: string, callback: () => void): unknown;
  off(type: string, callback: () => void): unknown;
}

/**
 * The parts of the `cc` module that the adapter uses. Games import the module with `import * as cc from 'cc'`. Its
 * types are declared here, because only Cocos Creator can resolve `cc`, and because the package must not depend on a
 * specific editor version.
 */
export interface CocosModule {
  readonly game: CocosEvents & {
    readonly canvas: HTMLCanvasElement | null;
    isPaused(): boolean;
    pause(): void;
    resume(): void;
  };
  readonly Game: {
    readonly EVENT_RESUME: string;
    readonly EVENT_SHOW: string;
    DEBUG_DT_THRESHOLD: number;
  };
  readonly director: CocosEvents & {
    isPaused(): boolean;
    getScene(): { getComponentsInChildren(type: object): object[] } | null;
  };
  readonly Director: {
    readonly EVENT_AFTER_UPDATE: string;
    readonly EVENT_BEGIN_FRAME: string;
  };
  /** Undefined if the project’s engine is built without audio. */
  readonly AudioSource?: { readonly prototype: CocosAudioSource };
}

/** A `cc.AudioSource` component. */
export interface CocosAudioSource {
  readonly isValid: boolean;
  readonly playing: boolean;
  play(): void;
  pause(): void;
  stop(): void;
  playOneShot(...args: never[]): void;
}

/**
 * The other parts of `cc` that a component needs: the class to extend, and the function that makes a node persist
 * across scenes. API Extractor requires the type parameter and the property to have different names.
 */
export interface CocosComponentModule<Node, Instance extends { node: Node }> extends CocosModule {
  readonly director: CocosModule['director'] & { addPersistRootNode(node: Node): void };
  readonly Component: new () => Instance;
}
