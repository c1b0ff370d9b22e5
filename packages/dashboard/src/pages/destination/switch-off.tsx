import type { Question } from "../../parts/questions.tsx";
import shared from "../../style/shared.module.css";

/** The question before a destination is switched off. */
export function switchOff(name: string): Question {
  return {
    title: "Switch the destination off?", act: "Switch it off",
    children: (
      <>
        <p className={shared.wraps}>{name}</p>
        <p>Posts to it are refused with 422 from then on. Events that it has accepted wait until it is on again.</p>
      </>
    ),
  };
}
