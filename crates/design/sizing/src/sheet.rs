//! Every number and decision of a sizing with the formula that produced it; formulas look up their
//! inputs in it by key, like the cells of a spreadsheet.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plan::deployment::Figure;

use crate::decision::Decision;
use crate::key::Key;
use crate::number::{Number, write};

/// The value under a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A choice among a few alternatives.
    Decision(Decision),
}

/// One result or input.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Key by which formulas find it.
    pub key: Key,
    /// The value.
    pub value: Value,
    /// How it is calculated, with names; empty for inputs.
    pub formula: String,
    /// The same with numbers in place of names.
    pub numbers: String,
    /// Source of the formula or input.
    pub source: Cow<'static, str>,
}

/// All facts in the order of their calculation.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    facts: Vec<Fact>,
    places: BTreeMap<Cow<'static, str>, usize>,
}

impl Sheet {
    /// The facts.
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The value and explanation under `key`, if any.
    pub fn fact(&self, key: Key) -> Option<&Fact> {
        self.named(&key.name())
    }

    /// The value and explanation under the key of this name, as people and formulas write it.
    pub fn named(&self, name: &str) -> Option<&Fact> {
        self.places.get(name).map(|&place| &self.facts[place])
    }

    /// The name that shares the most letters with `name` at its start and end, if enough.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let names = self.facts.iter().map(|fact| fact.key.name());
        let best =
            names.max_by_key(|known| shared(known, name)).filter(|best| shared(best, name) >= 3)?;
        self.places.get_key_value(&best).map(|(name, _)| &**name)
    }

    /// The number under `key`, if there is one.
    pub(crate) fn find(&self, key: Key) -> Option<Number> {
        self.number(key).map(|value| Number::named(&key.name(), value))
    }

    /// The value of the number under `key`, if there is one.
    pub fn number(&self, key: Key) -> Option<f64> {
        match self.fact(key)?.value {
            Value::Number(value) => Some(value),
            Value::Decision(_) => None,
        }
    }

    /// The decision under `key`, if there is one.
    pub fn decision(&self, key: Key) -> Option<Decision> {
        match self.fact(key)?.value {
            Value::Decision(decision) => Some(decision),
            Value::Number(_) => None,
        }
    }

    /// Returns the number under `key`, which an earlier formula must have stored.
    pub(crate) fn get(&self, key: Key) -> Number {
        let number = self.find(key);
        number.unwrap_or_else(|| panic!("invariant: {key} is calculated before it is used"))
    }

    /// The number under `key`; 0 if there is none, as for servers that the deployment does not
    /// have.
    pub(crate) fn find_or_0(&self, key: Key) -> Number {
        self.find(key).unwrap_or_else(|| Number::plain(0.0))
    }

    /// Records a result and returns it, named by its key.
    pub(crate) fn put(&mut self, key: Key, number: impl Into<Number>) -> Number {
        let number = number.into();
        self.push(Fact {
            key,
            value: Value::Number(number.value()),
            formula: number.formula().to_owned(),
            numbers: number.numbers().to_owned(),
            source: Cow::Borrowed(key.source()),
        });
        Number::named(&key.name(), number.value())
    }

    /// Records a decision and the reason for it.
    pub(crate) fn decide(&mut self, key: Key, decision: Decision, because: &str) {
        self.push(Fact {
            key,
            value: Value::Decision(decision),
            formula: because.to_owned(),
            numbers: String::new(),
            source: Cow::Borrowed(key.source()),
        });
    }

    /// Returns an input, recording it on first use.
    pub(crate) fn input(&mut self, key: Key, value: f64) -> Number {
        self.given(key, value, Cow::Borrowed(key.source()))
    }

    /// Returns an input as a share; the document gives it in percent.
    pub(crate) fn share(&mut self, key: Key, share: f64) -> Number {
        self.input(key, share * 100.0) / 100.0
    }

    /// A figure of the product, by the name of its field.
    pub(crate) fn figure(&mut self, name: &'static str, figure: &Figure) -> Number {
        let source = Cow::Owned(figure.source.clone());
        self.given(Key::Figure(name), figure.value, source)
    }

    /// A copy without the value under `key`, to see which others depend on it.
    #[must_use]
    pub fn without(&self, key: Key) -> Self {
        let mut sheet = Self::default();
        let others = self.facts.iter().filter(|fact| fact.key != key);
        others.for_each(|fact| sheet.push(fact.clone()));
        sheet
    }

    fn given(&mut self, key: Key, value: f64, source: Cow<'static, str>) -> Number {
        let name = key.name();
        if !self.places.contains_key(&name) {
            self.push(Fact {
                key,
                value: Value::Number(value),
                formula: String::new(),
                numbers: String::new(),
                source,
            });
        }
        Number::named(&name, value)
    }

    fn push(&mut self, fact: Fact) {
        let earlier = self.places.insert(fact.key.name(), self.facts.len());
        assert!(earlier.is_none(), "{} is calculated twice", fact.key);
        self.facts.push(fact);
    }
}

/// Length of the common prefix plus length of the common suffix.
fn shared(known: &str, name: &str) -> usize {
    let front = known.chars().zip(name.chars());
    let back = known.chars().rev().zip(name.chars().rev());
    front.take_while(|(left, right)| left == right).count()
        + back.take_while(|(left, right)| left == right).count()
}

impl Fact {
    /// Formats the value with its unit, as explanations do.
    pub fn written(&self) -> String {
        match self.value {
            Value::Number(value) if self.key.unit().is_empty() => write(value),
            Value::Number(value) => format!("{} {}", write(value), self.key.unit()),
            Value::Decision(decision) => decision.name().to_owned(),
        }
    }
}
